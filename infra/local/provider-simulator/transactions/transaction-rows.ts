import * as v from 'valibot'
import { type Channel, requireChannel, type SettlementRule } from '../channels.ts'
import { numberOf, takeFault } from '../faults.ts'
import { parseInput } from '../provider-error.ts'
import {
  BUSINESS_ID,
  type Payment,
  type Transaction,
  type TransactionFee,
} from '../provider-objects.ts'
import type { TransactionRecord } from '../simulator-store.ts'
import { payRequest, timestampNow, toTimestamp, type World } from '../world.ts'

const NO_FEE = feeFields(0, 0, 'PENDING')

/** If the contract bills the fees monthly, a settled row has no fee. */
const INVOICED_FEE = feeFields(0, 0, 'NOT_APPLICABLE')

/**
 * Books a capture as one row of `/transactions`. As at the real provider, the fee is zero and
 * PENDING until settlement; a reader must not take it for the real fee. Returns when the row
 * settles.
 */
export function bookCapture(
  world: World,
  payment: Payment,
  capture: { captureId: string; amount: number; isFoundLate: boolean },
) {
  const channel = requireChannel(payment.channel_code)
  const fixedFee = numberOf(takeFault(world, 'transactions', 'fee'))
  const lateSeconds = numberOf(takeFault(world, 'transactions', 'fee_late'))
  const isInvoiced = takeFault(world, 'transactions', 'fee_invoiced') !== undefined
  const fee = fixedFee === undefined ? tariffFee(channel, capture.amount) : splitFee(fixedFee)
  const finalFee = isInvoiced ? INVOICED_FEE : fee
  const rowLateSeconds = numberOf(takeFault(world, 'transactions', 'row_late'))
  const settleAtMs = settlementTime(world, channel, {
    isFixed: fixedFee !== undefined,
    lateSeconds,
  })
  const created = timestampNow(world)
  const row: Transaction = {
    id: `txn_${world.newUuid()}`,
    product_id: payment.payment_id,
    type: 'PAYMENT',
    status: 'SUCCESS',
    channel_category: channel.category,
    channel_code: channel.transactionCode,
    reference_id: payment.reference_id,
    account_identifier: null,
    currency: payment.currency,
    amount: capture.amount,
    net_amount: capture.amount,
    net_amount_currency: payment.currency,
    cashflow: 'MONEY_IN',
    settlement_status: 'PENDING',
    estimated_settlement_time: toTimestamp(settleAtMs),
    business_id: BUSINESS_ID,
    created,
    updated: created,
    fee: NO_FEE,
    product_data: {
      capture_id: capture.captureId,
      payment_request_id: payment.payment_request_id,
      payment_link_id: null,
      reusable_payment_link_id: null,
    },
  }
  world.store.transactions.put({
    id: row.id,
    row,
    settleAtMs,
    finalFee,
    ...(rowLateSeconds !== undefined && { shownAtMs: world.nowMs() + rowLateSeconds * 1000 }),
    ...(capture.isFoundLate && { shownAtMs: settleAtMs }),
  })
  applyRowFaults(world, row.id)
  settleTransaction(world, row.id)
  // A settled row ignores its task. The time may come between two reads of the clock.
  world.agenda.add({ kind: 'settle', id: row.id, dueMs: settleAtMs })
  return settleAtMs
}

/** With 11 % value added tax. Both are rounded down, as observed at the real provider. */
function tariffFee(channel: Channel, amount: number) {
  const fee = Math.floor((amount * channel.feeBps) / 10_000) + channel.feeFlat
  return feeFields(fee, Math.floor((fee * 11) / 100), 'COMPLETED')
}

function feeFields(fee: number, tax: number, status: string): TransactionFee {
  return {
    xendit_fee: fee,
    value_added_tax: tax,
    xendit_withholding_tax: 0,
    third_party_withholding_tax: 0,
    status,
  }
}

/** A total is split into fee and tax, so that tests notice code that ignores one of them. */
function splitFee(total: number) {
  const tax = Math.floor((total * 11) / 111)
  return feeFields(total - tax, tax, 'COMPLETED')
}

function settlementTime(
  world: World,
  channel: Channel,
  fee: { isFixed: boolean; lateSeconds: number | undefined },
) {
  if (fee.lateSeconds !== undefined) return world.nowMs() + Math.round(fee.lateSeconds * 1000)
  return fee.isFixed ? world.nowMs() : settlementTimeAfter(channel.settlement, world.nowMs())
}

const DAY_MS = 86_400_000
// Jakarta has no summer time.
const JAKARTA_OFFSET_MS = 7 * 3_600_000

/**
 * When a capture settles, in milliseconds since the epoch. After business days it settles at the
 * same time of day. Saturdays and Sundays in Jakarta are no business days; holidays are not
 * considered.
 */
function settlementTimeAfter(rule: SettlementRule, capturedMs: number) {
  if ('afterSeconds' in rule) return capturedMs + rule.afterSeconds * 1000
  let settledMs = capturedMs
  for (let daysLeft = rule.businessDays; daysLeft > 0; ) {
    settledMs += DAY_MS
    const weekday = new Date(settledMs + JAKARTA_OFFSET_MS).getUTCDay()
    if (weekday !== 0 && weekday !== 6) daysLeft -= 1
  }
  return settledMs
}

/** For good, to the next booked row, or to the newest row of the next list if that comes first. */
export function applyRowFaults(world: World, id: string) {
  const record = world.store.transactions.get(id)
  if (!record) return
  let newRecord: TransactionRecord = record
  if (takeFault(world, 'transactions', 'missing')) newRecord = { ...newRecord, missing: true }
  if (takeFault(world, 'transactions', 'duplicate'))
    newRecord = { ...newRecord, duplicateId: `txn_${world.newUuid()}` }
  const wrongAmount = takeFault(world, 'transactions', 'wrong_amount')
  if (wrongAmount) {
    const amount = numberOf(wrongAmount) ?? newRecord.row.amount + 1
    const netAmount = newRecord.row.net_amount + amount - newRecord.row.amount
    newRecord = {
      ...newRecord,
      row: { ...newRecord.row, amount, net_amount: netAmount, updated: timestampNow(world) },
    }
  }
  const isUnsettled = newRecord.settleAtMs !== undefined && newRecord.settleAtMs > world.nowMs()
  const settlesNow = isUnsettled && takeFault(world, 'transactions', 'settle_now') !== undefined
  if (settlesNow) newRecord = { ...newRecord, settleAtMs: world.nowMs() }
  if (newRecord !== record) world.store.transactions.put(newRecord)
  if (settlesNow) settleTransaction(world, id)
}

/** Does nothing if the row is already settled, or not due. */
export function settleTransaction(world: World, id: string) {
  const record = world.store.transactions.get(id)
  if (
    record?.settleAtMs === undefined ||
    record.finalFee === undefined ||
    record.settleAtMs > world.nowMs()
  )
    return
  const { settleAtMs: _due, finalFee, ...settledRecord } = record
  const row: Transaction = {
    ...record.row,
    fee: finalFee,
    net_amount: record.row.amount - finalFee.xendit_fee - finalFee.value_added_tax,
    settlement_status: 'SETTLED',
    updated: timestampNow(world),
  }
  world.store.transactions.put({ ...settledRecord, row })
  payFoundRequest(world, row)
}

/** Money that the provider finds at its settlement pays its request then, if it is still open. */
function payFoundRequest(world: World, { product_id: paymentId, product_data: data }: Transaction) {
  const record = world.store.requests.get(data?.payment_request_id ?? '')
  if (record && record.request.latest_payment_id === undefined) payRequest(world, record, paymentId)
}

const text = v.pipe(v.string(), v.maxLength(255))
const Instant = v.pipe(
  v.string(),
  v.check((value) => !Number.isNaN(Date.parse(value)), 'must be an ISO 8601 time'),
)
const Amount = v.pipe(v.number(), v.finite(), v.minValue(-1e12), v.maxValue(1e12))

/** The defaults are those of a new withdrawal of 100,000. */
const RowOrder = v.strictObject({
  type: v.optional(text, 'WITHDRAWAL'),
  status: v.optional(text, 'SUCCESS'),
  settlement_status: v.optional(v.nullable(text), null),
  fee_status: v.optional(text, 'COMPLETED'),
  /** The shown fee does not change the amounts. */
  fee: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(1e12)), 0),
  reference_id: v.optional(text, 'withdrawal-1'),
  product_id: v.optional(text, ''),
  payment_request_id: v.optional(text),
  channel_category: v.optional(text, 'BANK'),
  channel_code: v.optional(v.nullable(text), null),
  currency: v.optional(text, 'IDR'),
  amount: v.optional(Amount, 100_000),
  net_amount: v.optional(Amount),
  net_amount_currency: v.optional(text),
  cashflow: v.optional(v.picklist(['MONEY_IN', 'MONEY_OUT']), 'MONEY_OUT'),
  estimated_settlement_time: v.optional(v.nullable(Instant), null),
  created: v.optional(Instant),
  updated: v.optional(Instant),
  shown_after_seconds: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 0),
})

const NO_CAPTURE = { capture_id: null, payment_link_id: null, reusable_payment_link_id: null }

/**
 * With any type, status, settlement status and times, even undocumented ones. Sends no callback.
 */
export function bookRow(
  world: World,
  input: unknown,
  moved: Pick<TransactionRecord, 'paymentId'> = {},
) {
  const {
    fee_status: feeStatus,
    fee,
    shown_after_seconds: lateSeconds,
    payment_request_id: requestId,
    ...order
  } = parseInput(RowOrder, input)
  const now = timestampNow(world)
  const row: Transaction = {
    id: `txn_${world.newUuid()}`,
    account_identifier: null,
    business_id: BUSINESS_ID,
    product_data: requestId === undefined ? null : { ...NO_CAPTURE, payment_request_id: requestId },
    ...order,
    net_amount_currency: order.net_amount_currency ?? order.currency,
    net_amount: order.net_amount ?? order.amount,
    created: order.created ?? now,
    updated: order.updated ?? now,
    fee: { ...splitFee(fee), status: feeStatus },
  }
  world.store.transactions.put({
    id: row.id,
    row,
    ...moved,
    ...(lateSeconds > 0 && { shownAtMs: world.nowMs() + lateSeconds * 1000 }),
  })
  return row
}
