import { paymentIdOf } from '../ids.ts'
import { isLeftToOperator } from '../journal/house-store.ts'
import { hasMoved } from '../journal/payment-money.ts'
import { applyProviderNews } from '../payment/news/apply-news.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import type { Payment } from '../payment/payment.ts'
import {
  bookSuspense,
  bookSuspenseRefund,
  bookSuspenseVoid,
  bookUnmatched,
  bookWithdrawal,
  bookWithFinding,
  houseRowOf,
} from '../posting/house-journal.ts'
import { movePayment } from '../posting/move-payment.ts'
import { isForAmount } from '../posting/post-payments.ts'
import type { ProviderTransaction, Unanswered } from '../provider/provider.ts'
import { type NamedPayment, recordSuspense } from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import {
  findHeldMoney,
  findingOf,
  findNamedPayment,
  isCreditedWith,
  isYoung,
  mayBeCredited,
  moneyRowOf,
  recordFinding,
  recordFindingOf,
  syncFinding,
  withDisputedAmount,
} from './provider-row.ts'
import { creditByRow, type KnownRow, reconcileOwnRow } from './reconcile-own-row.ts'

/**
 * `booked`: the money is credited or in suspense. The sync reads the row again until it has settled. `done`: nothing is
 * left to do. `open`: undecided; the sync checks the row again. `passed_over`: the row concerns no payment or is not final.
 */
export type Reconciled = { readonly booked: Payment | undefined } | 'done' | 'open' | 'passed_over'

export type Lookups = {
  isAllowed(): Promise<boolean>
  noteUnanswered(reason: Unanswered['reason']): Promise<void>
}

/** Reconciles one provider transaction with the books. `known` may be stale: every write has a condition. */
export async function reconcileTransaction(
  deps: NewsDeps,
  row: KnownRow,
  lookups: Lookups,
): Promise<Reconciled> {
  const { transaction, known } = row
  const { type, status, providerPaymentId, reference } = transaction
  if (type === 'unknown' || status === 'unknown') return reconcileNonPayment(deps, row)
  if (status === 'pending') return 'passed_over'
  if (status === 'failed') return passOverFailed(deps, row)
  // A capture is decided before its reversal.
  if (moneyRowOf(transaction)) {
    const stored = known?.status === 'succeeded' ? known : await findNamedPayment(deps, transaction)
    // Another row of the page may have credited it after the read.
    if (stored !== known && stored?.status === 'succeeded') {
      return reconcileTransaction(deps, { transaction, known: stored }, lookups)
    }
    const isUndecided = mayBeCredited(stored)
    const isOther =
      type !== 'payment' &&
      paymentIdOf(reference) !== undefined &&
      !isCreditedWith(known, transaction)
    if (providerPaymentId !== '' && (isUndecided || isOther))
      return askAndReconcile(deps, transaction, lookups)
    // Without a payment id there is nothing to ask the provider.
    if (isUndecided && isYoung(deps, transaction)) return 'open'
  }
  if (type !== 'payment') return reconcileNonPayment(deps, row)
  if (isCreditedWith(known, transaction)) return reconcileCredited(deps, known, transaction)
  if (status === 'success') {
    const credited = await creditByRow(deps, row)
    if (credited) return reconcileCredited(deps, credited, transaction)
    return askAndReconcile(deps, transaction, lookups)
  }
  const held = await findHeldMoney(deps, transaction)
  if (held) return reconcileHeld(deps, held, transaction)
  // Reversed before it was credited: an operator must check it if the row names one of our payments.
  if (known) await recordFinding(deps, known, transaction, 'reversed_upstream')
  return known ? 'done' : 'passed_over'
}

/** Books a row that is not a payment. Unless it is of the account, or of a payment or suspense, it is a finding. */
async function reconcileNonPayment(
  deps: NewsDeps,
  { transaction, known }: KnownRow,
): Promise<Reconciled> {
  const { type, status } = transaction
  if (type === 'account' && status !== 'unknown' && known === undefined) {
    const row = houseRowOf(transaction)
    if (status !== 'success') {
      if (await isLeftToOperator(deps, row)) await recordFindingOf(deps, transaction, known)
    } else if (transaction.isWithdrawal) await bookWithdrawal(deps, row, transaction.amountMinor)
    else await bookUnmatched(deps, row)
    return 'passed_over'
  }
  // The provider does not document which ids a reversal's row carries.
  const isAboutCredit = transaction.providerPaymentId === '' || isCreditedWith(known, transaction)
  if (moneyRowOf(transaction) && known?.status === 'succeeded' && isAboutCredit) {
    return reconcileCredited(deps, known, transaction)
  }
  const held = await findHeldMoney(deps, transaction)
  return held ? reconcileHeld(deps, held, transaction) : recordUnmatched(deps, transaction, known)
}

async function reconcileCredited(
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
) {
  const moneyRow = moneyRowOf(transaction)
  if (moneyRow === undefined) {
    if (isForAmount(transaction, payment)) {
      await reconcileOwnRow(deps, payment, transaction)
      return { booked: payment }
    }
    await recordFinding(deps, payment, transaction, 'amount_differs')
    return 'done'
  }
  if (hasMoved(payment.movements, moneyRow)) return 'done'
  // An operator may have adjusted the client's ledger for this row. A second booking would count it twice.
  if (moneyRow.isOwnRow !== true && (await isLeftToOperator(deps, houseRowOf(transaction)))) {
    if (moneyRow.type === 'reversal') await recordFindingOf(deps, transaction, payment)
    return 'done'
  }
  const row = withDisputedAmount(moneyRow, transaction, payment)
  if (row === undefined) {
    const about = {
      subject: transaction.transactionId,
      cause: 'disputed_amount_unknown',
      payment,
    } as const
    await bookWithFinding(deps, houseRowOf(transaction), syncFinding(deps, transaction, about))
    return 'done'
  }
  const isEarly =
    row.type === 'dispute_won' && payment.movements.every(({ type }) => type !== 'chargeback')
  // The row of a won dispute may arrive before its chargeback: it stays open for two days.
  if (isEarly && isYoung(deps, transaction)) return 'open'
  await movePayment(deps, payment, row)
  return 'done'
}

/** Books a row of money in suspense: its settled payment, or a reversal. Any other row is a finding. */
async function reconcileHeld(
  deps: NewsDeps,
  item: Suspense,
  transaction: ProviderTransaction,
): Promise<Reconciled> {
  const row = houseRowOf(transaction)
  const moved = moneyRowOf(transaction)
  if (moved?.isOwnRow || moved?.type === 'refund' || moved?.type === 'chargeback') {
    if (!moved.isOwnRow && (await isLeftToOperator(deps, row))) return 'done'
    const booked = moved.isOwnRow
      ? await bookSuspenseVoid(deps, item, row)
      : await bookSuspenseRefund(deps, item, row, transaction.disputedMinor ?? moved.amountMinor)
    // An operator has refunded the money by bank or written it off. The finding lets the operator stop the transfer.
    const isClosed = booked.status === 'resolved' && booked.resolution !== 'refunded'
    if (isClosed) await recordFindingOf(deps, transaction, booked)
    return 'done'
  }
  if (transaction.type !== 'payment' || transaction.status !== 'success') {
    return recordUnmatched(deps, transaction, item)
  }
  if (transaction.keptMinor !== undefined) await bookSuspense(deps, item, row)
  return { booked: undefined }
}

/** Records a finding, and books the row to the house if it moved money. */
async function recordUnmatched(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  about: NamedPayment | undefined,
): Promise<Reconciled> {
  const found = findingOf(deps, transaction, about)
  if (transaction.status === 'success') await bookWithFinding(deps, houseRowOf(transaction), found)
  else await recordSuspense(deps, found)
  return 'done'
}

/** A failed row moves no money. If it was booked before, that booking is wrong: a finding. */
async function passOverFailed(
  deps: NewsDeps,
  { transaction, known }: KnownRow,
): Promise<Reconciled> {
  if (transaction.type === 'payment') return 'passed_over'
  const hasMovedIt = known?.movements.some(
    ({ transactionId }) => transactionId === transaction.transactionId,
  )
  if (hasMovedIt || (await isLeftToOperator(deps, houseRowOf(transaction)))) {
    await recordFindingOf(deps, transaction, known)
  }
  return 'passed_over'
}

/**
 * Asks the provider about money that no payment is credited with, and credits or holds it. Without an
 * answer, or without a capture, the row stays open for two days. Then it becomes a finding. A row with one of our
 * references stays open until the provider answers.
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
  // Already in suspense: another call would give the same answer.
  const held = await findHeldMoney(deps, transaction)
  if (held) return reconcileHeld(deps, held, transaction)
  // Another product of the same provider account: one finding is enough.
  if (paymentId === undefined && (await findSuspense(deps, unexplained.suspenseId))) return 'done'
  const mayBeLate = isYoung(deps, transaction)
  if (!(await lookups.isAllowed())) return 'open'
  const outcome = await applyProviderNews(deps, { providerPaymentId, paymentRequestId }, 'sync')
  if (outcome.kind === 'deferred') return 'open'
  if (outcome.kind === 'unanswered') await lookups.noteUnanswered(outcome.reason)
  // The id of a row that is not a payment may be of another kind. The provider refuses to look it up.
  const isOtherId =
    type !== 'payment' && outcome.kind === 'unanswered' && outcome.reason === 'refused'
  if (outcome.kind === 'not_shown' || (outcome.kind === 'unanswered' && !isOtherId)) {
    if (!mayBeLate) await recordSuspense(deps, unexplained)
    return mayBeLate || paymentId !== undefined ? 'open' : 'done'
  }
  const stored = await findNamedPayment(deps, transaction)
  if (isCreditedWith(stored, transaction)) return reconcileCredited(deps, stored, transaction)
  const heldNow = await findHeldMoney(deps, transaction)
  if (heldNow) return reconcileHeld(deps, heldNow, transaction)
  // The row names one of our payments, so the provider may still show the money later.
  const isOpen = mayBeLate && stored !== undefined
  if (type !== 'payment' && !(isOpen && mayBeCredited(stored))) {
    return recordUnmatched(deps, transaction, stored)
  }
  await recordSuspense(deps, {
    ...unexplained,
    paymentId: stored?.paymentId,
    clientId: stored?.clientId,
  })
  return isOpen ? 'open' : 'done'
}
