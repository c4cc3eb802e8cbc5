import { referenceOf } from '../ids.ts'
import { less } from '../money.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { creditCondition, succeedPayment } from '../payment/news/succeed-payment.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment, isForeign } from '../payment/payment-store.ts'
import { FEE_WAIT_MS } from '../posting/assume-fee.ts'
import {
  bookLateRow,
  endCreditedMoney,
  isForAmount,
  type Posting,
  postPayments,
  settledRowOf,
} from '../posting/post-payments.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { recordSuspense, reportSuspense } from '../suspense/record-suspense.ts'
import { addMs } from '../time.ts'
import { bookLateFee } from './book-late-fee.ts'
import {
  isCreditedWith,
  paymentFinding,
  type RowWithPayment,
  recordReinstatedRow,
} from './provider-row.ts'
import { recordUnmatchedRow } from './reconcile-house-row.ts'

/** Each try books the row or loses a race; the next read shows the result. */
const MAX_TRIES = 5

/**
 * Posts a payment by its own settled row, once. A fee other than the posted fee is a finding. A
 * later change of the row, and a second row of its capture, are the house's. A row that contradicts
 * itself is a finding too, and an open payment waits for its seventh day. Safe to repeat.
 */
export async function reconcileOwnRow(
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
) {
  const { transactionId, keptMinor, amountMinor, providerMinor, updatedAt } = transaction
  const { ownRow: booked, notionalMinor, postedAt: bookedAt = updatedAt, isVoid } = payment
  if (booked?.transactionId === transactionId && !isVoid) {
    const shown = { ...transaction, feeMinor: less(amountMinor, providerMinor) }
    // What a contradicting row moved beyond the expected is no fee, and neither is its correction.
    const feeMinor = booked.contradicts ? shown.feeMinor : less(notionalMinor, booked.providerMinor)
    const known = { ...booked, amountMinor: notionalMinor, feeMinor }
    const isChanged = booked.providerMinor !== providerMinor
    // A changed row may show its first figures again.
    if (isChanged || updatedAt > bookedAt) await bookLateFee(deps, shown, known, payment)
    if (isChanged) return
  }
  let current = payment
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const row = settledRowOf(deps, current, transaction)
    const { createdAt, ownRow, postedAt = createdAt, movements } = current
    const undone = movements.find((known) => known.transactionId === transactionId)
    const isBooked = ownRow?.transactionId === transactionId || undone !== undefined
    if (row === undefined) return
    if (current.isVoid && isBooked)
      return recordReinstatedRow(deps, transaction, undone?.at, current)
    // No payment takes a second row of one capture.
    if (!isBooked && (ownRow || current.isVoid))
      return recordUnmatchedRow(deps, transaction, current)
    // The settlement that posts an overdue payment by this row does not end its held money.
    if (ownRow === undefined || postedAt >= addMs(createdAt, FEE_WAIT_MS))
      await endCreditedMoney(deps, [current])
    const contradiction = row.contradicts && {
      ...paymentFinding(deps, current, transaction, 'row_contradicts'),
      // What waits at the provider until the payment is posted.
      providerMinor,
    }
    if (current.openAt !== undefined) {
      if (contradiction) return recordSuspense(deps, contradiction)
      await postPayments(deps, [{ payment: current, by: { row } }])
    } else if (ownRow === undefined) {
      const { applied } = await bookLateRow(deps, current, row, contradiction)
      if (applied && contradiction) return reportSuspense(deps, contradiction)
    } else {
      const expectedMinor = current.finalFee?.invoiced === true ? 0 : current.providerFeeMinor
      return expectedMinor === keptMinor || ownRow.contradicts
        ? undefined
        : recordSuspense(deps, paymentFinding(deps, current, transaction, 'fee_changed'))
    }
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (!isCreditedWith(stored, transaction)) return
    current = stored
  }
  throw new Error('a payment kept changing while its own row was booked')
}

/** Undefined unless the row can post the open payment. */
export function postingByRow(
  deps: NewsDeps,
  { transaction, payment }: RowWithPayment,
): Posting | undefined {
  const isOpen = isCreditedWith(payment, transaction) && payment.openAt !== undefined
  if (!isOpen || isForeign(payment)) return undefined
  const row = settledRowOf(deps, payment, transaction)
  return row && row.contradicts !== true ? { payment, by: { row } } : undefined
}

/**
 * Credits a pending payment by a row that the sync fetched, without another call. The condition:
 * the payment is pending. Undefined: the row does not match, its money was given back, or the
 * payment is no longer pending; the caller then asks further.
 */
export async function creditByRow(
  deps: NewsDeps,
  { payment, transaction }: RowWithPayment,
): Promise<Payment | undefined> {
  if (payment === undefined || !matchesPayment(transaction, payment)) return undefined
  const held = await creditCondition(deps, transaction)
  if (held === undefined) return undefined
  const { amountMinor: capturedMinor } = transaction
  const { paymentRequestId } = payment
  const capture = { ...transaction, capturedMinor, paymentRequestId, status: 'captured' } as const
  return succeedPayment(deps, payment, capture, 'sync', held)
}

function matchesPayment(transaction: ProviderTransaction, payment: Payment): boolean {
  return (
    transaction.isCaptured === true &&
    payment.status === 'pending' &&
    !isForeign(payment) &&
    transaction.reference === referenceOf(payment.paymentId, payment.attempt) &&
    (transaction.paymentRequestId === undefined ||
      transaction.paymentRequestId === payment.paymentRequestId) &&
    isForAmount(transaction, payment) &&
    payment.rememberedProviderPaymentIds === undefined
  )
}
