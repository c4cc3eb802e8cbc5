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
 * Reverses the last capture of a request, or returns its money after a won dispute (design section 10). Returns the
 * changed or new row. As at the real provider, a void or a reversal has no callback; the others have one. Throws
 * `INELIGIBLE_TRANSACTION_STATUS` if the request has no money that can be reversed or returned.
 */
export function reversePayment(world: World, id: string, body: unknown): Transaction {
  const { request } = requireRequest(world, id)
  const order = parseInput(ReverseOrder, body)
  const captured = rowsOf(world, request.latest_payment_id).find(
    ({ row }) => row.type === 'PAYMENT',
  )
  if (!captured) throw ineligible('this payment request was not paid; pay it first')
  if (!v.is(RowReversal, order)) return bookMovement(world, captured.row, order)
  const { kind, transaction_id: rowId } = order
  const target =
    rowId === undefined
      ? captured
      : rowsOf(world, request.latest_payment_id).find(({ id: of }) => of === rowId)
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
  captured: Transaction,
  order: v.InferOutput<typeof Movement> | v.InferOutput<typeof Chargeback>,
): Transaction {
  const { kind, amount: ordered } = order
  const [type, event] = MOVEMENTS[kind]
  const disputed = rowsOf(world, captured.product_id).find(({ row }) => row.type === 'CHARGEBACK')
  if (kind === 'chargeback_reversal' && !disputed)
    throw ineligible('this payment has no chargeback; make one first')
  const amount =
    ordered ??
    (kind === 'chargeback_reversal' && disputed ? disputedBy(disputed.row) : captured.amount)
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
  const about = {
    payment_id: captured.product_id,
    reference_id: captured.reference_id,
    currency: captured.currency,
  }
  announce(
    world,
    event,
    kind === 'refund'
      ? { id: `rfd-${world.newUuid()}`, ...about, amount, status: 'SUCCEEDED' }
      : {
          id: `mi-dspt-${world.newUuid()}`,
          ...about,
          amount: { initial: String(amount), terminal: null },
        },
  )
  return row
}

/** The amount of a dispute, without the fee that its row includes. */
function disputedBy({ amount, fee }: Transaction): number {
  return amount - fee.xendit_fee - fee.value_added_tax
}

/** If the row is not settled yet, it never settles. */
function reverseRow(
  world: World,
  record: TransactionRecord,
  kind: 'voided' | 'reversed',
): Transaction {
  if (record.row.status !== 'SUCCESS') throw ineligible(`the row is already ${record.row.status}`)
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
