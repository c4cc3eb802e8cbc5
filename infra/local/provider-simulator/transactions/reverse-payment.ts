import * as v from 'valibot'
import { announce } from '../callbacks.ts'
import { ProviderError, parseInput } from '../provider-error.ts'
import type { Transaction } from '../provider-objects.ts'
import { paymentOfRecord, type TransactionRecord } from '../simulator-store.ts'
import { requireRequest, timestampNow, toTimestamp, type World } from '../world.ts'
import { bookRow } from './transaction-rows.ts'

const Whole = v.pipe(v.number(), v.safeInteger(), v.maxValue(1_000_000_000_000))
const Amount = v.pipe(Whole, v.minValue(1))

/** Voids or reverses one whole row: the row of `transaction_id`, or else the payment's own row. */
const RowReversal = v.strictObject({
  kind: v.picklist(['voided', 'reversed']),
  transaction_id: v.optional(v.string()),
})
/** No document says what a row names that moves money back: the payment in each of these ways. */
export const NAMED_BY = ['capture', 'payment', 'request', 'reference'] as const
const named = v.optional(v.picklist(NAMED_BY), 'capture')

/** Adds a row that moves the whole amount or a part of it. */
const Movement = v.strictObject({
  kind: v.picklist(['refund', 'chargeback_reversal']),
  amount: v.optional(Amount),
  named_by: named,
})
const Chargeback = v.strictObject({
  kind: v.literal('chargeback'),
  amount: v.optional(Amount),
  fee: v.optional(v.pipe(Whole, v.minValue(0)), 0),
  /** In a row of the dispute, or of all disputes of a month. */
  deducted: v.optional(v.picklist(['at_once', 'monthly']), 'at_once'),
  named_by: named,
})
const DisputeLost = v.strictObject({ kind: v.literal('dispute_lost') })
const ReverseOrder = v.variant('kind', [RowReversal, Movement, Chargeback, DisputeLost])

/**
 * Reverses the last capture of a request, or returns its money after a won dispute (design section
 * 10). Returns the changed or new row. As at the real provider, a void or a reversal has no
 * callback. Throws `INELIGIBLE_TRANSACTION_STATUS` if the request has no money that can be reversed
 * or returned.
 */
export function reversePayment(world: World, id: string, body: unknown) {
  const { request } = requireRequest(world, id)
  const order = parseInput(ReverseOrder, body)
  const capture = rowsOf(world, request.latest_payment_id).find(({ row }) => row.type === 'PAYMENT')
  if (!capture) throw ineligible('this payment request was not paid; pay it first')
  if (order.kind === 'dispute_lost') return loseDispute(world, capture.row)
  if (!v.is(RowReversal, order)) return bookMovement(world, capture.row, order)
  const { kind, transaction_id: rowId } = order
  const target =
    rowId === undefined
      ? capture
      : rowsOf(world, request.latest_payment_id).find((record) => record.id === rowId)
  if (!target) throw ineligible('transaction_id is not the id of a row of this payment request')
  return reverseRow(world, target, kind)
}

function rowsOf(world: World, paymentId: string | undefined) {
  return world.store.transactions
    .all()
    .filter((record) => paymentId !== undefined && paymentOfRecord(record) === paymentId)
}

function ineligible(message: string) {
  return new ProviderError('INELIGIBLE_TRANSACTION_STATUS', message)
}

/** The raised dispute took the money, so only the callback is new. */
function loseDispute(world: World, capture: Transaction) {
  const row = chargebackOf(world, capture)
  announceDispute(world, 'dispute.lost', { capture, amount: disputedAmount(row) })
  return row
}

function chargebackOf(world: World, capture: Transaction) {
  const dispute = rowsOf(world, capture.product_id).find(({ row }) => row.type === 'CHARGEBACK')
  if (!dispute) throw ineligible('this payment has no chargeback; make one first')
  return dispute.row
}

const MOVEMENTS = {
  refund: ['REFUND', 'refund.succeeded'],
  chargeback: ['CHARGEBACK', 'dispute.action_required'],
  chargeback_reversal: ['CHARGEBACK_REVERSAL', 'dispute.won'],
} as const

function bookMovement(
  world: World,
  capture: Transaction,
  order: v.InferOutput<typeof Movement> | v.InferOutput<typeof Chargeback>,
) {
  const { kind, amount: orderedAmount } = order
  const [type, event] = MOVEMENTS[kind]
  const dispute = kind === 'chargeback_reversal' ? chargebackOf(world, capture) : undefined
  const amount = orderedAmount ?? (dispute ? disputedAmount(dispute) : capture.amount)
  const fee = order.kind === 'chargeback' ? order.fee : 0
  if (order.kind === 'chargeback' && order.deducted === 'monthly') {
    announceDispute(world, 'dispute.action_required', { capture, amount })
    putUndeducted(world, undeductedOf(world) + amount + fee)
    return capture
  }
  const { channel_category, channel_code, currency } = capture
  const names = namesOf(world, capture, order.named_by)
  const cashflow = kind === 'chargeback_reversal' ? 'MONEY_IN' : 'MONEY_OUT'
  const row = bookRow(
    world,
    {
      type,
      ...names,
      channel_category,
      channel_code,
      currency,
      amount: amount + fee,
      fee,
      cashflow,
    },
    // The row may name its payment in no way that a filter finds.
    { paymentId: capture.product_id },
  )
  if (event !== 'refund.succeeded') announceDispute(world, event, { capture, amount })
  else
    announce(world, event, {
      id: `rfd-${world.newUuid()}`,
      payment_id: capture.product_id,
      payment_request_id: capture.product_data?.payment_request_id,
      currency: capture.currency,
      amount,
      status: 'SUCCEEDED',
    })
  return row
}

function namesOf(
  world: World,
  { reference_id, product_id, product_data }: Transaction,
  namedBy: (typeof NAMED_BY)[number],
) {
  if (namedBy === 'capture') return { reference_id, product_id }
  const own = { reference_id: `back-${world.newUuid()}`, product_id: `rfd-${world.newUuid()}` }
  if (namedBy === 'payment') return { ...own, product_id }
  if (namedBy === 'reference') return { ...own, reference_id }
  return { ...own, payment_request_id: product_data?.payment_request_id }
}

const ANSWER_DAYS = 7
const DAY_MS = 86_400_000

/** A payment's dispute keeps its id through all its states. */
function announceDispute(
  world: World,
  event: 'dispute.action_required' | 'dispute.won' | 'dispute.lost',
  { capture, amount }: { readonly capture: Transaction; readonly amount: number },
) {
  const isOpen = event === 'dispute.action_required'
  const nowMs = world.nowMs()
  const now = toTimestamp(nowMs)
  announce(world, event, {
    id: capture.product_id.replace(/^py-/, 'mi-dspt-'),
    status: event.slice('dispute.'.length).toUpperCase(),
    status_reason: null,
    channel_code: capture.channel_code,
    currency: capture.currency,
    amount: { initial: String(amount), terminal: isOpen ? null : String(amount) },
    payment_id: capture.product_id,
    reference_id: capture.reference_id,
    created_at: now,
    updated_at: now,
    due_date: isOpen ? toTimestamp(nowMs + ANSWER_DAYS * DAY_MS) : null,
  })
}

const UNDEDUCTED = 'undeducted disputes'

function undeductedOf(world: World) {
  return world.store.sequences.get(UNDEDUCTED)?.count ?? 0
}

function putUndeducted(world: World, count: number) {
  world.store.sequences.put({ id: UNDEDUCTED, count })
}

/**
 * Books a row that names no payment, for all lost disputes without a row. Throws
 * `INELIGIBLE_TRANSACTION_STATUS` without such a dispute.
 */
export function deductDisputes(world: World) {
  const amount = undeductedOf(world)
  if (amount === 0) throw ineligible('every dispute has its row; raise one with "monthly" first')
  putUndeducted(world, 0)
  const reference = `disputes-${timestampNow(world).slice(0, 7)}`
  return bookRow(world, { type: 'chargeback_deduction', reference_id: reference, amount })
}

/** The amount of a dispute, without the fee that its row includes. */
function disputedAmount({ amount, fee }: Transaction) {
  return amount - fee.xendit_fee - fee.value_added_tax
}

/** An unsettled row never settles then. */
function reverseRow(world: World, record: TransactionRecord, kind: 'voided' | 'reversed') {
  if (record.row.status !== 'SUCCESS') throw ineligible(`the row is already ${record.row.status}`)
  const { settleAtMs, finalFee: _fee, ...otherFields } = record
  const row: Transaction = {
    ...record.row,
    status: kind === 'voided' ? 'VOIDED' : 'REVERSED',
    settlement_status: settleAtMs === undefined ? record.row.settlement_status : null,
    fee: { ...record.row.fee, status: kind === 'voided' ? 'CANCELED' : 'REVERSED' },
    updated: timestampNow(world),
  }
  world.store.transactions.put({ ...otherFields, row })
  return row
}
