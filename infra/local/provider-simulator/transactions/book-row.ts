import * as v from 'valibot'
import { parseInput } from '../provider-error.ts'
import { BUSINESS_ID, type Transaction } from '../provider-objects.ts'
import { timestampNow, type World } from '../world.ts'
import { splitFee } from './transaction-rows.ts'

const text = v.pipe(v.string(), v.maxLength(255))
const Instant = v.pipe(
  v.string(),
  v.check((value) => !Number.isNaN(Date.parse(value)), 'must be an ISO 8601 time'),
)
const Amount = v.pipe(v.number(), v.finite(), v.minValue(-1e12), v.maxValue(1e12))

/** What an order may say of the row; the rest is as in a withdrawal of 100,000 that has just been made. */
const RowOrder = v.strictObject({
  type: v.optional(text, 'WITHDRAWAL'),
  status: v.optional(text, 'SUCCESS'),
  settlement_status: v.optional(v.nullable(text), null),
  fee_status: v.optional(text, 'COMPLETED'),
  /** What the row shows beside its amounts; it changes none of them. */
  fee: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(1e12)), 0),
  reference_id: v.optional(text, 'withdrawal-1'),
  product_id: v.optional(text, ''),
  channel_category: v.optional(text, 'BANK'),
  channel_code: v.optional(v.nullable(text), null),
  currency: v.optional(text, 'IDR'),
  amount: v.optional(Amount, 100_000),
  net_amount: v.optional(Amount),
  cashflow: v.optional(v.picklist(['MONEY_IN', 'MONEY_OUT']), 'MONEY_OUT'),
  estimated_settlement_time: v.optional(v.nullable(Instant), null),
  created: v.optional(Instant),
  updated: v.optional(Instant),
})

/**
 * Books a row that no capture makes: of any type, status and settlement status, those of no document included, and with
 * any times. Nothing else happens, and no callback follows.
 */
export const bookRow = (world: World, input: unknown): Transaction => {
  const { fee_status: feeStatus, fee, ...order } = parseInput(RowOrder, input)
  const now = timestampNow(world)
  const row: Transaction = {
    id: `txn_${world.newUuid()}`,
    account_identifier: null,
    net_amount_currency: order.currency,
    business_id: BUSINESS_ID,
    product_data: null,
    ...order,
    net_amount: order.net_amount ?? order.amount,
    created: order.created ?? now,
    updated: order.updated ?? now,
    fee: { ...splitFee(fee), status: feeStatus },
  }
  world.store.transactions.put({ id: row.id, row })
  return row
}
