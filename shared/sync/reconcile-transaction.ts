import { paymentIdOf } from '../ids.ts'
import { bookingsOf } from '../journal/house-store.ts'
import { hasMoved } from '../journal/payment-money.ts'
import { applyNews, findNamedPayment, isSilent } from '../payment/news/apply-news.ts'
import { askForNews, type NewsAnswer, type NewsDeps } from '../payment/news/ask-for-news.ts'
import { isAboutCredit } from '../payment/news/succeed-payment.ts'
import { mayBeCredited, type Payment } from '../payment/payment.ts'
import { isForeign } from '../payment/payment-store.ts'
import { bookTransfer, bookUnmatchedRow, houseRowOf } from '../posting/house-journal.ts'
import { movePayment } from '../posting/move-payment.ts'
import { isInRupiah, type ProviderTransaction, type Unanswered } from '../provider/provider.ts'
import { recordSuspense } from '../suspense/record-suspense.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import { bookLateFee, bookLateFeeOfMovement } from './book-late-fee.ts'
import { payoutOfRow } from './payout-of-row.ts'
import {
  findHeldMoney,
  findMovedPayment,
  isCreditedWith,
  isOfOtherCurrency,
  isYoung,
  moneyRowOf,
  paymentFinding,
  type Reconciled,
  type RowWithPayment,
  recordReinstatedRow,
  recordRowFinding,
  rowFinding,
  syncFinding,
  transferCaseOf,
  waitsForFee,
  withDisputedAmount,
} from './provider-row.ts'
import { reconcileFailedRow } from './reconcile-failed-row.ts'
import { reconcileBookedRow, reconcileHeldMoney } from './reconcile-held-money.ts'
import { bookBackVoid, reconcileSecondVoid, recordUnmatchedRow } from './reconcile-house-row.ts'
import { creditByRow, reconcileOwnRow } from './reconcile-own-row.ts'

export type Lookups = {
  isAllowed(): Promise<boolean>
  noteUnanswered(reason: Unanswered['reason']): Promise<void>
}

/**
 * Books what a row means for payments, held money and the house. Safe to repeat. The payment may be
 * stale: every write has a condition.
 */
export async function reconcileTransaction(
  deps: NewsDeps,
  row: RowWithPayment,
  lookups: Lookups,
): Promise<Reconciled> {
  const reconciled = await reconcileRow(deps, row, lookups)
  await bookLaterChange(deps, row)
  return reconciled
}

async function reconcileRow(
  deps: NewsDeps,
  row: RowWithPayment,
  lookups: Lookups,
): Promise<Reconciled> {
  const { transaction, payment } = row
  const { type, status, providerPaymentId, paymentRequestId, reference } = transaction
  // Of a payment's own row the capture says which money is held, and a void undoes what is booked.
  if (type !== 'payment' && isOfOtherCurrency(transaction))
    return recordUnmatchedRow(deps, transaction, payment)
  if (type === 'unknown' || status === 'unknown') return reconcileNonPayment(deps, row)
  if (status === 'pending') return 'passed_over'
  if (status === 'failed') return reconcileFailedRow(deps, row)
  if (waitsForFee(deps, transaction)) return 'open'
  // A capture is decided before its reversal.
  if (moneyRowOf(transaction)) {
    const stored =
      payment?.status === 'succeeded' ? payment : await findNamedPayment(deps, transaction)
    // Another row of the page may have credited the payment after the read.
    if (stored !== payment && stored?.status === 'succeeded') {
      return reconcileRow(deps, { transaction, payment: stored }, lookups)
    }
    const isUndecided = mayBeCredited(stored)
    const isOfOtherMoney =
      type !== 'payment' && type !== 'account' && !isAboutCredit(stored, transaction)
    const decided = isOfOtherMoney && (await reconcileDecidedRow(deps, transaction))
    if (decided) return decided
    const mayAsk = providerPaymentId !== '' || paymentRequestId !== undefined
    if (mayAsk && (isUndecided || isOfOtherMoney))
      return askAndReconcile(deps, transaction, lookups)
    // Without an id of its payment the gateway cannot ask the provider.
    if (isUndecided && isYoung(deps, transaction)) return 'open'
  }
  if (type !== 'payment') return reconcileNonPayment(deps, row)
  if (isCreditedWith(payment, transaction)) return reconcileCredit(deps, payment, transaction)
  if (status === 'success') {
    const credited = await creditByRow(deps, row)
    if (credited) return reconcileCredit(deps, credited, transaction)
  }
  const isVoid = status === 'reversed' && reference === ''
  const moved = isVoid && (await findMovedPayment(deps, transaction))
  if (moved) return reconcileCredit(deps, moved, transaction)
  // Only the provider can say whose row it is that has no reference, also of a void.
  if (status === 'success' || reference === '') return askAndReconcile(deps, transaction, lookups)
  const money = await findHeldMoney(deps, transaction)
  if (money) return reconcileHeldMoney(deps, money, transaction)
  // No payment had the reversed money. An operator must check a row that names one of ours.
  if (payment) await recordRowFinding(deps, transaction, payment)
  return payment ? 'done' : 'passed_over'
}

/** A row that names our account, a credit or held money is theirs; any other is a finding. */
async function reconcileNonPayment(
  deps: NewsDeps,
  { transaction, payment }: RowWithPayment,
): Promise<Reconciled> {
  const { type, status } = transaction
  if (type === 'account' && status !== 'unknown') {
    const row = houseRowOf(transaction)
    if (status !== 'success') {
      await bookBackVoid(deps, transaction)
      return 'passed_over'
    }
    const payout = await payoutOfRow(deps, transaction)
    const transfer = payout ? 'withdrawal' : transaction.transfer
    const named =
      payout?.finding ??
      (await transferCaseOf(deps, transaction)) ??
      (payment && rowFinding(deps, transaction, payment))
    if (transfer)
      await bookTransfer(deps, row, transfer, {
        contradiction: syncFinding(deps, transaction, { cause: 'row_contradicts' }),
        named,
      })
    else await bookUnmatchedRow(deps, row, named)
    return 'passed_over'
  }
  if (type !== 'unknown' && moneyRowOf(transaction) && isAboutCredit(payment, transaction)) {
    return reconcileCredit(deps, payment, transaction)
  }
  const isMoneyBack = moneyRowOf(transaction) && transaction.providerPaymentId === ''
  const providerPaymentId = isMoneyBack ? onlyHeldOf(payment) : transaction.providerPaymentId
  const money = await findHeldMoney(deps, { ...transaction, providerPaymentId })
  return money
    ? reconcileHeldMoney(deps, money, transaction)
    : recordUnmatchedRow(deps, transaction, payment)
}

/** Money back that names a payment, but not its credit, is about the money that is held for it. */
function onlyHeldOf(payment: Payment | undefined): string {
  const [held, ...others] = payment?.held ?? []
  return held && others.length === 0 ? held.suspenseId : ''
}

/**
 * A row that does not name its payment was decided before if the house has booked it, if a finding
 * names the payment that it has moved, or if it is void and its finding says that it undoes
 * nothing. The provider is not asked again.
 */
async function reconcileDecidedRow(
  deps: NewsDeps,
  transaction: ProviderTransaction,
): Promise<Reconciled | undefined> {
  const moved = await findMovedPayment(deps, transaction)
  if (moved) return reconcileCredit(deps, moved, transaction)
  const decided = await reconcileBookedRow(deps, transaction)
  if (decided || transaction.status !== 'reversed' || isYoung(deps, transaction)) return decided
  const { suspenseId } = rowFinding(deps, transaction, undefined)
  return (await findSuspense(deps, suspenseId)) && 'done'
}

async function reconcileCredit(deps: NewsDeps, payment: Payment, transaction: ProviderTransaction) {
  const moneyRow = moneyRowOf(transaction)
  if (isForeign(payment)) {
    await recordSuspense(deps, paymentFinding(deps, payment, transaction, 'payment_foreign'))
    return moneyRow ? recordUnmatchedRow(deps, transaction, payment) : 'done'
  }
  if (moneyRow === undefined) {
    if (!isInRupiah(transaction)) {
      await recordSuspense(deps, paymentFinding(deps, payment, transaction, 'amount_differs'))
      return 'done'
    }
    await reconcileOwnRow(deps, payment, transaction)
    return { booked: payment }
  }
  if (await bookBackVoid(deps, transaction)) return 'done'
  if (hasMoved(payment.movements, moneyRow)) {
    await bookLateFeeOfMovement(deps, payment, transaction)
    return 'done'
  }
  if (moneyRow.isOwnRow) {
    const isSecond = payment.ownRow && payment.ownRow.transactionId !== moneyRow.transactionId
    const second = await reconcileSecondVoid(deps, transaction, payment, isSecond)
    if (second) return second
  }
  // An operator may have adjusted the client's ledger for this row, or the row gave back held money
  // before the payment was credited. A second booking would count it twice.
  if (moneyRow.type !== 'reversal') {
    const decided = await reconcileBookedRow(deps, transaction)
    if (decided) return decided
  }
  const row = withDisputedAmount(moneyRow, transaction, payment)
  if (row === undefined) {
    const about = { cause: 'disputed_amount_unknown', payment } as const
    await bookUnmatchedRow(deps, houseRowOf(transaction), syncFinding(deps, transaction, about))
    return 'done'
  }
  const isEarly =
    row.type === 'dispute_won' && payment.movements.every(({ type }) => type !== 'chargeback')
  // The row of a won dispute may arrive before its chargeback. It stays open for two days.
  if (isEarly && isYoung(deps, transaction)) return 'open'
  // Before the booking with a fee that is not final: a later reading does not come here.
  if (transaction.hasOpenFee)
    await recordSuspense(deps, syncFinding(deps, transaction, { payment }))
  await movePayment(deps, payment, row)
  return 'done'
}

/**
 * Asks the provider about money that no payment is credited with, and credits or holds the money. A
 * row that takes money back is reconciled with the payment that the answer names. Without an answer
 * or a capture, the row stays open for two days. Then it becomes a finding. A row with one of our
 * references stays open until the provider answers, and so does money back. A void without one
 * stays until the provider knows its payment, or an operator explains its finding.
 */
async function askAndReconcile(deps: NewsDeps, transaction: ProviderTransaction, lookups: Lookups) {
  const { type, status, paymentRequestId, transactionId } = transaction
  const providerPaymentId = transaction.providerPaymentId || undefined
  const paymentId = paymentIdOf(transaction.reference)
  // The finding of a paid row must not hide its void.
  const subject = (providerPaymentId ?? transactionId) + (status === 'reversed' ? '#reversal' : '')
  const unexplained = syncFinding(deps, transaction, { subject })
  // Another call would give the same answer.
  const money = await findHeldMoney(deps, transaction)
  if (money) return reconcileHeldMoney(deps, money, transaction)
  // A row of another product of the provider account: one finding is enough. But a void may be of a
  // payment of ours, until an operator explains the finding.
  const isOfOtherProduct = paymentId === undefined && type === 'payment'
  const isVoid = isOfOtherProduct && status === 'reversed'
  const known = isOfOtherProduct && (await findSuspense(deps, unexplained.suspenseId))
  if (known && !(isVoid && known.status === 'open')) return 'done'
  const mayBeLate = isYoung(deps, transaction)
  if (!(await lookups.isAllowed())) return 'unasked'
  const answer = await askForNews(deps, { providerPaymentId, paymentRequestId })
  const outcome = await applyNews(deps, answer, 'sync')
  if (outcome.kind === 'deferred') return 'open'
  if (outcome.kind === 'unanswered') await lookups.noteUnanswered(outcome.reason)
  // A row that is no payment may have an id of another kind, which the provider may refuse.
  const isRefused = outcome.kind === 'unanswered' && type === 'payment'
  if (outcome.kind === 'not_shown' || isSilent(outcome) || isRefused) {
    if (!mayBeLate) await recordSuspense(deps, unexplained)
    const isAskedAgain =
      paymentId !== undefined || (isSilent(outcome) && (isVoid || type !== 'payment'))
    if (mayBeLate || isAskedAgain) return 'open'
    return type === 'payment' ? 'done' : recordUnmatchedRow(deps, transaction, undefined)
  }
  // Just after a change, the provider may not find what its own row names.
  const isUnnamed = type !== 'payment' || transaction.reference === ''
  if (outcome.kind === 'not_found' && isUnnamed && mayBeLate) return 'open'
  const named = namedBy(answer, transaction)
  const stored = await findNamedPayment(deps, named)
  if (isAboutCredit(stored, named)) return reconcileCredit(deps, stored, transaction)
  const newlyHeld = await findHeldMoney(deps, named)
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
  return isOpen || (isVoid && outcome.kind === 'not_found') ? 'open' : 'done'
}

/**
 * A row that takes money back may carry ids of its own, and a payment's row no reference. The
 * answer says whose money it is, unless the row names another payment: then the row contradicts
 * itself. A payment's row keeps its id: a request may have other captures.
 */
function namedBy(answer: NewsAnswer, transaction: ProviderTransaction): ProviderTransaction {
  const isPayment = transaction.type === 'payment'
  if ((isPayment && transaction.reference !== '') || answer.kind !== 'news') return transaction
  const { reference, capture } = answer.news
  const paymentId = paymentIdOf(transaction.reference)
  if (paymentId !== undefined && paymentId !== paymentIdOf(reference)) return transaction
  const own = { ...transaction, reference }
  return isPayment || !capture ? own : { ...own, providerPaymentId: capture.providerPaymentId }
}

/** What the provider changes of a row after the house has booked it, or booked it back. */
async function bookLaterChange(deps: NewsDeps, { transaction, payment }: RowWithPayment) {
  if (transaction.type === 'payment' || transaction.status !== 'success') return
  const { reversal, ...booked } = await bookingsOf(deps, houseRowOf(transaction))
  const { unmatched, topup, withdrawal, suspense_refunded: refund } = booked
  if (reversal) await recordReinstatedRow(deps, transaction, reversal.postedAt, payment)
  else await bookLateFee(deps, transaction, unmatched ?? topup ?? withdrawal ?? refund, payment)
}
