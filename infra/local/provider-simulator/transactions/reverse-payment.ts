import * as v from 'valibot'
import { announce } from '../callbacks.ts'
import { ProviderError, parseInput } from '../provider-error.ts'
import type { Transaction } from '../provider-objects.ts'
import type { TransactionRecord } from '../simulator-store.ts'
import { requireRequest, timestampNow, type World } from '../world.ts'
import { bookRow } from './transaction-rows.ts'

const Whole = v.pipe(v.number(), v.safeInteger(), v.maxValue(1_000_000_000_000))
const Amount = v.pipe(Whole, v.minValue(1))

/** Voids or reverses one whole row: the row of `transaction_id`, or else the payment's own row. */
const RowReversal = v.strictObject({
  kind: v.picklist(['voided', 'reversed']),
  transaction_id: v.optional(v.string()),
})
/** Adds a row that moves the whole amount or a part of it. */
const Movement = v.strictObject({
  kind: v.picklist(['refund', 'chargeback_reversal']),
  amount: v.optional(Amount),
})
/** The provider also takes a fee for a dispute. */
const Chargeback = v.strictObject({
  kind: v.literal('chargeback'),
  amount: v.optional(Amount),
  fee: v.optional(v.pipe(Whole, v.minValue(0)), 0),
})
const ReverseOrder = v.variant('kind', [RowReversal, Movement, Chargeback])

/**
 * Reverses the last capture of a request, or returns its money after a won dispute (design section
 * 10). Returns the changed or new row. As at the real provider, a void or a reversal has no
 * callback; the other kinds have a callback. Throws `INELIGIBLE_TRANSACTION_STATUS` if the request
 * has no money that can be reversed or returned.
 */
export function reversePayment(world: World, id: string, body: unknown): Transaction {
  const { request } = requireRequest(world, id)
  const order = parseInput(ReverseOrder, body)
  const capture = rowsOf(world, request.latest_payment_id).find(({ row }) => row.type === 'PAYMENT')
  if (!capture) throw ineligible('this payment request was not paid; pay it first')
  if (!v.is(RowReversal, order)) return bookMovement(world, capture.row, order)
  const { kind, transaction_id: rowId } = order
  const target =
    rowId === undefined
      ? capture
      : rowsOf(world, request.latest_payment_id).find((record) => record.id === rowId)
  if (!target) throw ineligible('transaction_id is not the id of a row of this payment request')
  return reverseRow(world, target, kind)
}

function rowsOf(world: World, paymentId: string | undefined): TransactionRecord[] {
  return world.store.transactions
    .all()
    .filter(({ row }) => paymentId !== undefined && row.product_id === paymentId)
}

function ineligible(message: string) {
  return new ProviderError('INELIGIBLE_TRANSACTION_STATUS', message)
}

/** The type of a row, and the event of its callback. */
const MOVEMENTS = {
  refund: ['REFUND', 'refund.succeeded'],
  chargeback: ['CHARGEBACK', 'dispute.action_required'],
  chargeback_reversal: ['CHARGEBACK_REVERSAL', 'dispute.won'],
} as const

function bookMovement(
  world: World,
  capture: Transaction,
  order: v.InferOutput<typeof Movement> | v.InferOutput<typeof Chargeback>,
): Transaction {
  const { kind, amount: orderedAmount } = order
  const [type, event] = MOVEMENTS[kind]
  const dispute = rowsOf(world, capture.product_id).find(({ row }) => row.type === 'CHARGEBACK')
  if (kind === 'chargeback_reversal' && !dispute)
    throw ineligible('this payment has no chargeback; make one first')
  const amount =
    orderedAmount ??
    (kind === 'chargeback_reversal' && dispute ? disputedAmount(dispute.row) : capture.amount)
  const fee = order.kind === 'chargeback' ? order.fee : 0
  const row = bookRow(world, {
    type,
    reference_id: capture.reference_id,
    product_id: capture.product_id,
    channel_category: capture.channel_category,
    channel_code: capture.channel_code,
    currency: capture.currency,
    amount: amount + fee,
    fee,
    cashflow: kind === 'chargeback_reversal' ? 'MONEY_IN' : 'MONEY_OUT',
  })
  const paymentFields = {
    payment_id: capture.product_id,
    reference_id: capture.reference_id,
    currency: capture.currency,
  }
  announce(
    world,
    event,
    kind === 'refund'
      ? { id: `rfd-${world.newUuid()}`, ...paymentFields, amount, status: 'SUCCEEDED' }
      : {
          id: `mi-dspt-${world.newUuid()}`,
          ...paymentFields,
          amount: { initial: String(amount), terminal: null },
        },
  )
  return row
}

/** The amount of a dispute, without the fee that its row includes. */
function disputedAmount({ amount, fee }: Transaction): number {
  return amount - fee.xendit_fee - fee.value_added_tax
}

/** If the row is not settled yet, it never settles. */
function reverseRow(
  world: World,
  record: TransactionRecord,
  kind: 'voided' | 'reversed',
): Transaction {
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
