import * as v from 'valibot'
import { announce } from '../callbacks.ts'
import { ProviderError, parseInput } from '../provider-error.ts'
import type { Transaction } from '../provider-objects.ts'
import type { TransactionRecord } from '../simulator-store.ts'
import { requireRequest, timestampNow, type World } from '../world.ts'
import { bookRow } from './transaction-rows.ts'

const Whole = v.pipe(v.number(), v.safeInteger(), v.maxValue(1_000_000_000_000))
const Amount = v.pipe(Whole, v.minValue(1))

/** The payment's own row turns, whole; or, by its id, a row that moved its money. */
const Turn = v.strictObject({ kind: v.picklist(['voided', 'reversed']), transaction_id: v.optional(v.string()) })
/** The money moves in a row of its own, whole or in part. */
const OwnRow = v.strictObject({ kind: v.picklist(['refund', 'chargeback_reversal']), amount: v.optional(Amount) })
/** The provider takes a fee for a dispute, beside the amount. */
const Chargeback = v.strictObject({
  kind: v.literal('chargeback'),
  amount: v.optional(Amount),
  fee: v.optional(v.pipe(Whole, v.minValue(0)), 0),
})
const ReverseOrder = v.variant('kind', [Turn, OwnRow, Chargeback])

/**
 * Lets the money of a request's last capture go back, or come again after a dispute that was won (design section 10).
 * Answers the row that says so. A void or a reversal has no callback, as upstream; the others have one.
 * Throws `INELIGIBLE_TRANSACTION_STATUS` where there is no such money.
 */
export const reversePayment = (world: World, id: string, body: unknown): Transaction => {
  const { request } = requireRequest(world, id)
  const order = parseInput(ReverseOrder, body)
  const captured = rowsOf(world, request.latest_payment_id).find(({ row }) => row.type === 'PAYMENT')
  if (!captured) throw ineligible('nothing was paid on this payment request')
  if (!v.is(Turn, order)) return bookOwnRow(world, captured.row, order)
  const { kind, transaction_id: rowId } = order
  const meant =
    rowId === undefined ? captured : rowsOf(world, request.latest_payment_id).find(({ id: of }) => of === rowId)
  if (!meant) throw ineligible('no such row of this payment request')
  return turnRow(world, meant, kind)
}

const ineligible = (message: string) => new ProviderError('INELIGIBLE_TRANSACTION_STATUS', message)

const rowsOf = (world: World, paymentId: string | undefined): TransactionRecord[] =>
  world.store.transactions.all().filter(({ row }) => paymentId !== undefined && row.product_id === paymentId)

/** A row that is not settled yet never will be. */
const turnRow = (world: World, record: TransactionRecord, kind: 'voided' | 'reversed'): Transaction => {
  if (record.row.status !== 'SUCCESS') throw ineligible(`the row is ${record.row.status} already`)
  const { settleAtMs, finalFee: _fee, ...rest } = record
  const row: Transaction = {
    ...record.row,
    status: kind === 'voided' ? 'VOIDED' : 'REVERSED',
    settlement_status: settleAtMs === undefined ? record.row.settlement_status : null,
    fee: { ...record.row.fee, status: kind === 'voided' ? 'CANCELED' : 'REVERSED' },
    updated: timestampNow(world),
  }
  world.store.transactions.put({ ...rest, row })
  return row
}

/** The type of a row, and the event of its callback. */
const MOVEMENTS = {
  refund: ['REFUND', 'refund.succeeded'],
  chargeback: ['CHARGEBACK', 'dispute.action_required'],
  chargeback_reversal: ['CHARGEBACK_REVERSAL', 'dispute.won'],
} as const

/** The amount of a dispute, without the fee that its row includes. */
const disputedBy = ({ amount, fee }: Transaction): number => amount - fee.xendit_fee - fee.value_added_tax

const bookOwnRow = (
  world: World,
  captured: Transaction,
  order: v.InferOutput<typeof OwnRow> | v.InferOutput<typeof Chargeback>,
): Transaction => {
  const { kind, amount: ordered } = order
  const [type, event] = MOVEMENTS[kind]
  const disputed = rowsOf(world, captured.product_id).find(({ row }) => row.type === 'CHARGEBACK')
  if (kind === 'chargeback_reversal' && !disputed) throw ineligible('there is no chargeback to be won back')
  const amount = ordered ?? (kind === 'chargeback_reversal' && disputed ? disputedBy(disputed.row) : captured.amount)
  const fee = order.kind === 'chargeback' ? order.fee : 0
  const row = bookRow(world, {
    type,
    reference_id: captured.reference_id,
    product_id: captured.product_id,
    channel_category: captured.channel_category,
    channel_code: captured.channel_code,
    currency: captured.currency,
    amount: amount + fee,
    fee,
    cashflow: kind === 'chargeback_reversal' ? 'MONEY_IN' : 'MONEY_OUT',
  })
  const about = { payment_id: captured.product_id, reference_id: captured.reference_id, currency: captured.currency }
  announce(
    world,
    event,
    kind === 'refund'
      ? { id: `rfd-${world.newUuid()}`, ...about, amount, status: 'SUCCEEDED' }
      : { id: `mi-dspt-${world.newUuid()}`, ...about, amount: { initial: String(amount), terminal: null } },
  )
  return row
}
