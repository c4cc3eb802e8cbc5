import { paymentIdOf } from '../ids.ts'
import { isLeftToOperator } from '../journal/house-store.ts'
import { hasMoved } from '../journal/payment-money.ts'
import { applyProviderNews } from '../payment/news/apply-news.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import type { Payment } from '../payment/payment.ts'
import { isForeign } from '../payment/payment-store.ts'
import { bookTransfer, bookUnmatchedRow, houseRowOf } from '../posting/house-journal.ts'
import { movePayment } from '../posting/move-payment.ts'
import type { ProviderTransaction, Unanswered } from '../provider/provider.ts'
import { recordSuspense } from '../suspense/record-suspense.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import { payoutOfRow } from './payout-of-row.ts'
import {
  findHeldMoney,
  findNamedPayment,
  isCreditedWith,
  isInRupiah,
  isOfOtherCurrency,
  isYoung,
  mayBeCredited,
  moneyRowOf,
  recordOpenFee,
  recordPaymentFinding,
  recordRowFinding,
  syncFinding,
  transferCaseOf,
  waitsForFee,
  withDisputedAmount,
} from './provider-row.ts'
import { reconcileHeldMoney } from './reconcile-held-money.ts'
import { bookBackVoid, type Reconciled, recordUnmatchedRow } from './reconcile-house-row.ts'
import { creditByRow, type RowWithPayment, reconcileOwnRow } from './reconcile-own-row.ts'

export type Lookups = {
  isAllowed(): Promise<boolean>
  noteUnanswered(reason: Unanswered['reason']): Promise<void>
}

/** The payment may be stale: every write has a condition. */
export async function reconcileTransaction(
  deps: NewsDeps,
  row: RowWithPayment,
  lookups: Lookups,
): Promise<Reconciled> {
  const { transaction, payment } = row
  const { type, status, providerPaymentId, reference } = transaction
  // Of a payment's own row the capture says which money is held, and a void undoes what is booked.
  if (type !== 'payment' && isOfOtherCurrency(transaction))
    return recordUnmatchedRow(deps, transaction, payment)
  if (type === 'unknown' || status === 'unknown') return reconcileNonPayment(deps, row)
  if (status === 'pending') return 'passed_over'
  if (status === 'failed') return passOverFailedRow(deps, row)
  if (waitsForFee(deps, transaction)) return 'open'
  // A capture is decided before its reversal.
  if (moneyRowOf(transaction)) {
    const stored =
      payment?.status === 'succeeded' ? payment : await findNamedPayment(deps, transaction)
    // Another row of the page may have credited the payment after the read.
    if (stored !== payment && stored?.status === 'succeeded') {
      return reconcileTransaction(deps, { transaction, payment: stored }, lookups)
    }
    const isUndecided = mayBeCredited(stored)
    const isOfOtherMoney =
      type !== 'payment' &&
      paymentIdOf(reference) !== undefined &&
      !isCreditedWith(payment, transaction)
    if (providerPaymentId !== '' && (isUndecided || isOfOtherMoney))
      return askAndReconcile(deps, transaction, lookups)
    // Without a payment id the gateway cannot ask the provider.
    if (isUndecided && isYoung(deps, transaction)) return 'open'
  }
  if (type !== 'payment') return reconcileNonPayment(deps, row)
  if (isCreditedWith(payment, transaction)) return reconcileCredit(deps, payment, transaction)
  if (status === 'success') {
    const credited = await creditByRow(deps, row)
    if (credited) return reconcileCredit(deps, credited, transaction)
    return askAndReconcile(deps, transaction, lookups)
  }
  const money = await findHeldMoney(deps, transaction)
  if (money) return reconcileHeldMoney(deps, money, transaction)
  // No payment had the reversed money. If the row names one of our payments, an operator must check
  // it.
  if (payment) await recordPaymentFinding(deps, payment, transaction, 'reversed_upstream')
  return payment ? 'done' : 'passed_over'
}

/** A row that belongs to no account, payment or suspense item becomes a finding. */
async function reconcileNonPayment(
  deps: NewsDeps,
  { transaction, payment }: RowWithPayment,
): Promise<Reconciled> {
  const { type, status } = transaction
  if (type === 'account' && status !== 'unknown' && payment === undefined) {
    const row = houseRowOf(transaction)
    const contradiction = { subject: row.transactionId, cause: 'row_contradicts', payment } as const
    if (status !== 'success') {
      await bookBackVoid(deps, transaction)
      return 'passed_over'
    }
    const payout = await payoutOfRow(deps, transaction)
    const transfer = payout ? 'withdrawal' : transaction.transfer
    const named = payout?.finding ?? (await transferCaseOf(deps, transaction))
    if (transfer)
      await bookTransfer(deps, row, transfer, {
        contradiction: syncFinding(deps, transaction, contradiction),
        named,
      })
    else await bookUnmatchedRow(deps, row, named)
    return 'passed_over'
  }
  // The provider does not document which ids a reversal's row carries.
  const isAboutCredit = transaction.providerPaymentId === '' || isCreditedWith(payment, transaction)
  if (moneyRowOf(transaction) && payment?.status === 'succeeded' && isAboutCredit) {
    return reconcileCredit(deps, payment, transaction)
  }
  const money = await findHeldMoney(deps, transaction)
  return money
    ? reconcileHeldMoney(deps, money, transaction)
    : recordUnmatchedRow(deps, transaction, payment)
}

async function reconcileCredit(deps: NewsDeps, payment: Payment, transaction: ProviderTransaction) {
  const moneyRow = moneyRowOf(transaction)
  if (isForeign(payment)) {
    await recordPaymentFinding(deps, payment, transaction, 'payment_foreign')
    return moneyRow ? recordUnmatchedRow(deps, transaction, payment) : 'done'
  }
  if (moneyRow === undefined) {
    if (!isInRupiah(transaction)) {
      await recordPaymentFinding(deps, payment, transaction, 'amount_differs')
      return 'done'
    }
    await reconcileOwnRow(deps, payment, transaction)
    return { booked: payment }
  }
  if (hasMoved(payment.movements, moneyRow)) return 'done'
  // An operator may have adjusted the client's ledger for this row. A second booking would count it
  // twice.
  const isReversal = moneyRow.type === 'reversal' && moneyRow.isOwnRow !== true
  if (isReversal && (await bookBackVoid(deps, transaction))) return 'done'
  if (!isReversal && moneyRow.isOwnRow !== true) {
    if (await isLeftToOperator(deps, houseRowOf(transaction))) return 'done'
  }
  const row = withDisputedAmount(moneyRow, transaction, payment)
  if (row === undefined) {
    const about = {
      subject: transaction.transactionId,
      cause: 'disputed_amount_unknown',
      payment,
    } as const
    await bookUnmatchedRow(deps, houseRowOf(transaction), syncFinding(deps, transaction, about))
    return 'done'
  }
  const isEarly =
    row.type === 'dispute_won' && payment.movements.every(({ type }) => type !== 'chargeback')
  // The row of a won dispute may arrive before the row of its chargeback. It stays open for two
  // days.
  if (isEarly && isYoung(deps, transaction)) return 'open'
  await movePayment(deps, payment, row)
  if (transaction.hasOpenFee) await recordOpenFee(deps, transaction, payment)
  return 'done'
}

/**
 * A failed row moves no money. What the house booked of it is booked back, also if it became a
 * payment's refund by transfer. Any other movement of a payment by it is a finding.
 */
async function passOverFailedRow(
  deps: NewsDeps,
  { transaction, payment }: RowWithPayment,
): Promise<Reconciled> {
  if (transaction.type === 'payment') return 'passed_over'
  if (await bookBackVoid(deps, transaction)) return 'passed_over'
  const isBooked = payment?.movements.some(
    ({ transactionId }) => transactionId === transaction.transactionId,
  )
  if (isBooked) await recordRowFinding(deps, transaction, payment)
  return 'passed_over'
}

/**
 * Asks the provider about money that no payment is credited with, and credits or holds the money.
 * Without an answer or a capture, the row stays open for two days. Then it becomes a finding. A row
 * with one of our references stays open until the provider answers.
 */
async function askAndReconcile(deps: NewsDeps, transaction: ProviderTransaction, lookups: Lookups) {
  const { type, providerPaymentId, paymentRequestId, transactionId } = transaction
  const paymentId = paymentIdOf(transaction.reference)
  const subject = providerPaymentId || transactionId
  const unexplained = syncFinding(deps, transaction, {
    subject,
    cause: 'transaction_unexplained',
    payment: undefined,
  })
  // Another call would give the same answer.
  const money = await findHeldMoney(deps, transaction)
  if (money) return reconcileHeldMoney(deps, money, transaction)
  // A row of another product of the provider account: one finding is enough.
  if (paymentId === undefined && (await findSuspense(deps, unexplained.suspenseId))) return 'done'
  const mayBeLate = isYoung(deps, transaction)
  if (!(await lookups.isAllowed())) return 'open'
  const outcome = await applyProviderNews(deps, { providerPaymentId, paymentRequestId }, 'sync')
  if (outcome.kind === 'deferred') return 'open'
  if (outcome.kind === 'unanswered') await lookups.noteUnanswered(outcome.reason)
  // A row that is no payment may have an id of another kind, which the provider may refuse.
  const isOtherId =
    type !== 'payment' && outcome.kind === 'unanswered' && outcome.reason === 'refused'
  if (outcome.kind === 'not_shown' || (outcome.kind === 'unanswered' && !isOtherId)) {
    if (!mayBeLate) await recordSuspense(deps, unexplained)
    return mayBeLate || paymentId !== undefined ? 'open' : 'done'
  }
  const stored = await findNamedPayment(deps, transaction)
  if (isCreditedWith(stored, transaction)) return reconcileCredit(deps, stored, transaction)
  const newlyHeld = await findHeldMoney(deps, transaction)
  if (newlyHeld) return reconcileHeldMoney(deps, newlyHeld, transaction)
  // The row names one of our payments, so the provider may still show the money later.
  const isOpen = mayBeLate && stored !== undefined
  if (type !== 'payment' && !(isOpen && mayBeCredited(stored))) {
    return recordUnmatchedRow(deps, transaction, stored)
  }
  await recordSuspense(deps, {
    ...unexplained,
    paymentId: stored?.paymentId,
    clientId: stored?.clientId,
  })
  return isOpen ? 'open' : 'done'
}
