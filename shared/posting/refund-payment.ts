import type { Deps } from '../deps.ts'
import { conflict, invalid, invalidField, notFound } from '../errors.ts'
import { findEntry } from '../journal/entry-store.ts'
import {
  findUnclaimedRow,
  type HouseEntry,
  onOpenDay,
  requireTakenOver,
  takeOverRow,
} from '../journal/house-store.ts'
import { MAX_MOVEMENTS, type MoneyRow, type Movement } from '../journal/payment-money.ts'
import { atLeastZero, less, type Minor, ZERO } from '../money.ts'
import { type Approvable, requireApproval, type UsedApproval } from '../operator/approval-store.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Payment } from '../payment/payment.ts'
import { findAnyPayment, isForeign } from '../payment/payment-store.ts'
import { findOpenTransfer } from '../suspense/record-suspense.ts'
import { closeSuspense, onlyIfNew } from '../suspense/suspense-store.ts'
import { refuseVoid, requireRows } from './ask-for-rows.ts'
import { type MoveDeps, prepareMovement } from './move-payment.ts'
import { entriesOf, moneyOf } from './payment-entries.ts'

type RefundInput = {
  readonly paymentId: string
  readonly operator: string
  readonly amountMinor: Minor
  readonly providerTransactionId?: string | undefined
  readonly bankReference?: string | undefined
  readonly notes?: string | undefined
}

/** Rows of the payment, a settlement and other operators may refuse a try. */
const MAX_TRIES = 5

/**
 * Books a refund of a succeeded payment that was made by transfer, once for each bank reference or
 * row of the provider (design sections 7 and 12): as a refund by the provider's row, with its
 * event, and the audit record. A row is taken over from the house, which ends its case; that of a
 * withdrawal uses up an approval, as does a transfer from our bank, before which the provider is
 * asked about the payment's money. Throws 404 for an unknown payment or row, 422 beyond what is
 * left of the payment, and for a payment whose row names another client; of a transfer 409 if the
 * provider took the money back, or gives some back by a row that is not booked yet.
 */
export async function refundPayment(
  deps: RecordDeps & MoveDeps & Pick<Deps, 'provider'>,
  input: RefundInput,
) {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const payment = await findAnyPayment(deps, input.paymentId)
    if (payment.status !== 'succeeded')
      throw invalid(`payment cannot be refunded in status=${payment.status}`)
    if (isForeign(payment))
      throw invalid('payment is stored under a client that its id does not belong to')
    const earlier = earlierRefund(payment, input)
    if (earlier) return answerEarlier(deps, payment, earlier, input)
    const houseRow = await rowOf(deps, input)
    assertLeft(payment, input.amountMinor)
    const { providerPaymentId = '' } = payment.capture ?? {}
    if (!houseRow) refuseVoid(await requireRows(deps, providerPaymentId, payment))
    let approval: UsedApproval | undefined
    try {
      if (!houseRow || houseRow.bankMinor > 0)
        approval = await requireApproval(deps, askedFor(input))
    } catch (cause) {
      // Another call of this refund may have used the approval.
      const stored = await findAnyPayment(deps, input.paymentId)
      if (stored.status === 'succeeded' && earlierRefund(stored, input)) continue
      throw cause
    }
    const transferred = houseRow && (await findOpenTransfer(deps, houseRow.transactionId))
    const { paymentId, clientId } = payment
    const details = toRefundDetails(input)
    const outcome = await onOpenDay(deps, async (now) => {
      const row = refundRowOf(input, houseRow, now)
      const movement = await prepareMovement(deps, payment, row, now)
      const record = {
        subject: paymentId,
        clientId,
        operator: input.operator,
        action: 'refund-payment',
        after: { ...details, ...(approval && { approved: approval.shown }) },
        freshUntil: movement.freshUntil,
      }
      const steps = {
        ...movement.steps,
        // A transfer refunds one payment: the finding of each movement has the transfer's own id.
        ...onlyIfNew(movement.steps, movement.findings),
        approval: approval?.step,
        ...(houseRow && takeOverRow(houseRow, { postedAt: now, clientId, paymentId })),
        transferred: transferred && closeSuspense(transferred, REFUNDED),
      }
      return { movement, ...(await recordChange<string>(deps, record, steps)) }
    })
    if (!outcome.applied) {
      if (outcome.refusedBy.startsWith('suspense ')) throw usedError(input)
      if (houseRow) requireTakenOver(houseRow, outcome.refusedBy)
      continue
    }
    await outcome.movement.report()
    return toRefundDto(outcome.movement.after, input)
  }
  throw conflict('the payment is being changed right now; try again')
}

function earlierRefund({ movements }: Payment, input: RefundInput) {
  return movements.find(
    ({ type, transactionId }) => type === 'refund' && transactionId === transactionIdOf(input),
  )
}

function usedError(input: RefundInput) {
  return conflict(
    `${transactionIdOf(input)} has refunded another payment`,
    'Each transfer has its own reference: look it up at the bank.',
  )
}

function transactionIdOf({ providerTransactionId, bankReference = '' }: RefundInput): string {
  return providerTransactionId ?? `bank:${bankReference}`
}

/** A repeat answers what is stored. Throws 409 for another amount. */
async function answerEarlier(
  deps: RecordDeps,
  payment: Payment,
  { amountMinor }: Movement,
  input: RefundInput,
) {
  if (amountMinor !== input.amountMinor) {
    throw conflict(
      `this transfer refunded ${amountMinor} IDR of the payment`,
      'get-payment shows what went back.',
    )
  }
  const dto = toRefundDto(payment, input)
  const entry = entryOfRefund(payment, input)
  if (entry === undefined || (await findEntry(deps, payment.clientId, entry))) return dto
  throw conflict('the refund is being written right now; try again')
}

async function rowOf(deps: RecordDeps, input: RefundInput): Promise<HouseEntry | undefined> {
  const { providerTransactionId, amountMinor } = input
  if (providerTransactionId === undefined) return undefined
  const row = await findUnclaimedRow(deps, providerTransactionId)
  if (row === undefined) throw notFound('provider transaction')
  const isOut = row.providerMinor < 0
  if (isOut && amountMinor === row.amountMinor) return row
  throw invalidField(
    'amount_minor',
    `the row's own amount is ${row.amountMinor}, ${isOut ? 'out' : 'in'}`,
  )
}

const REFUNDED = { status: 'resolved', resolution: 'refunded' } as const

function assertLeft(payment: Payment, amountMinor: Minor) {
  const { isVoid, wentBackMinor } = moneyOf(payment)
  const leftMinor = isVoid ? ZERO : atLeastZero(less(payment.notionalMinor, wentBackMinor))
  const isFull = payment.movements.length >= MAX_MOVEMENTS
  if (amountMinor <= leftMinor && !isFull) return
  throw invalidField(
    'amount_minor',
    isFull
      ? `this payment has ${MAX_MOVEMENTS} movements already`
      : `only ${leftMinor} IDR of this payment did not go back yet`,
  )
}

function askedFor(input: RefundInput): Approvable {
  const { notes: _, ...figures } = toRefundDetails(input)
  return { action: 'refund-payment', payload: { payment_id: input.paymentId, ...figures } }
}

function refundRowOf(
  input: RefundInput,
  houseRow: HouseEntry | undefined,
  at: MoneyRow['at'],
): MoneyRow {
  const { amountMinor } = input
  const transactionId = transactionIdOf(input)
  const row = { type: 'refund', kind: 'refund', transactionId, amountMinor, at } as const
  return houseRow
    ? {
        ...row,
        providerMinor: houseRow.providerMinor,
        ...(houseRow.feeMinor !== undefined && { feeMinor: houseRow.feeMinor }),
        createdAt: houseRow.rowAt,
      }
    : { ...row, providerMinor: ZERO, isByBank: true }
}

/** Undefined while the payment is open: its posting writes the entry. */
function entryOfRefund(payment: Payment, input: RefundInput) {
  return entriesOf(payment).find(
    ({ type, providerTransactionId }) =>
      type === 'refund' && providerTransactionId === transactionIdOf(input),
  )
}

function toRefundDetails(input: RefundInput) {
  return {
    amount_minor: input.amountMinor,
    provider_transaction_id: input.providerTransactionId ?? null,
    bank_reference: input.bankReference ?? null,
    notes: input.notes ?? null,
  }
}

function toRefundDto(payment: Payment, input: RefundInput) {
  const entry = entryOfRefund(payment, input)
  return {
    id: entry?.entryId ?? null,
    client_id: payment.clientId,
    type: 'refund',
    payment_id: payment.paymentId,
    ...toRefundDetails(input),
    posted_at: entry?.postedAt ?? null,
    client_net_minor: entry?.netMinor ?? null,
    provider_minor: entry?.providerMinor ?? null,
    bank_minor: entry?.bankMinor ?? null,
    cost_minor: entry?.costMinor ?? null,
  }
}
