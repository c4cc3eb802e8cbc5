import type { MoneyRow } from '../journal/payment-money.ts'
import { ZERO } from '../money.ts'
import { isForAmount } from '../payment/fee/actual-fee.ts'
import { applyProviderNews } from '../payment/news/apply-provider-news.ts'
import type { NewsDeps } from '../payment/news/news-deps.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { paymentIdOf } from '../payment/provider-attempts.ts'
import {
  bookBeyond,
  bookSuspense,
  bookSuspenseRefund,
  bookUnmatched,
  bookWithdrawal,
  houseRowOf,
} from '../posting/house-journal.ts'
import { movePayment } from '../posting/move-payment.ts'
import type { ProviderTransaction, Unanswered } from '../provider/provider.ts'
import { recordSuspense } from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import { addMs, DAY_MS } from '../time.ts'
import { creditByRow } from './credit-by-row.ts'
import { moneyRowOf, withDisputed } from './money-row.ts'
import { reconcileOwnRow } from './reconcile-own-row.ts'
import { isCreditedWith, recordFinding, syncFinding } from './sync-finding.ts'

/**
 * `credited`: about the payment that was credited with it. `open`: nobody could be asked about it; look at it again.
 * `passed_over`: not about any payment, or not decided yet.
 */
export type Reconciled =
  | { readonly kind: 'credited'; readonly payment: Payment }
  | { readonly kind: 'done' | 'open' | 'passed_over' }

/** The right to ask the provider, which has a quota. */
export type AskAbout = {
  /** Whether a question may be asked now. */
  allowed(): Promise<boolean>
  unanswered(reason: Unanswered['reason']): Promise<void>
}

const DONE: Reconciled = { kind: 'done' }
const OPEN: Reconciled = { kind: 'open' }
const PASSED_OVER: Reconciled = { kind: 'passed_over' }

/** How long a transaction is asked about again before a person must look at it. */
const OPEN_TIMEOUT_MS = 2 * DAY_MS

/** A row by which money of a credited payment goes back or comes again, and not the row that paid it. */
const movesMoney = (transaction: ProviderTransaction): boolean => moneyRowOf(transaction) !== undefined

const reconcileMoved = async (
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
  moneyRow: MoneyRow,
): Promise<Reconciled> => {
  const row = withDisputed(moneyRow, transaction, payment)
  if (row === undefined) {
    const about = { subject: transaction.transactionId, cause: 'disputed_amount_unknown', payment } as const
    await bookBeyond(deps, houseRowOf(transaction), syncFinding(deps, transaction, about))
    return DONE
  }
  const isEarly = row.type === 'dispute_won' && payment.movements.every(({ type }) => type !== 'chargeback')
  // A dispute that is won may be heard of before it was raised: it is looked at again while it is young.
  if (isEarly && addMs(transaction.updatedAt, OPEN_TIMEOUT_MS) > deps.now()) return OPEN
  await movePayment(deps, payment, row)
  return DONE
}

const reconcileCredited = async (
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
): Promise<Reconciled> => {
  const row = moneyRowOf(transaction)
  if (row) return reconcileMoved(deps, payment, transaction, row)
  if (!isForAmount(transaction, payment)) {
    await recordFinding(deps, payment, transaction, 'amount_differs')
    return DONE
  }
  await reconcileOwnRow(deps, payment, transaction)
  return { kind: 'credited', payment }
}

/** Money in suspense: its own settled row is booked, and so is a row that takes it back. */
const reconcileSuspense = async (
  deps: NewsDeps,
  item: Suspense,
  transaction: ProviderTransaction,
): Promise<Reconciled> => {
  if (item.kind !== 'money') return DONE
  const row = houseRowOf(transaction)
  const moved = moneyRowOf(transaction)
  if (moved) {
    const providerMinor = moved.isOwnRow === true && item.postedMinor === undefined ? ZERO : moved.providerMinor
    await bookSuspenseRefund(deps, item, { row: { ...row, providerMinor }, amountMinor: moved.amountMinor })
  } else if (transaction.keptMinor !== undefined) await bookSuspense(deps, item, row)
  return DONE
}

/**
 * Money that no payment is credited with: the one door for news decides, so that a capture whose callback was lost is
 * credited or held. What the provider itself cannot explain is a finding, and is asked about again while it is young: a
 * payment that is not there today may be there in an hour.
 */
const askAndReconcile = async (
  deps: NewsDeps,
  transaction: ProviderTransaction,
  ask: AskAbout,
): Promise<Reconciled> => {
  const { providerPaymentId, paymentRequestId, transactionId } = transaction
  const paymentId = paymentIdOf(transaction.reference)
  const subject = providerPaymentId || transactionId
  const unexplained = syncFinding(deps, transaction, { subject, cause: 'transaction_unexplained', payment: undefined })
  // Held already: asking again would only find the same.
  const held = await findSuspense(deps, subject)
  if (held) return reconcileSuspense(deps, held, transaction)
  // Another product of the same provider account: noting it once is enough.
  if (paymentId === undefined && (await findSuspense(deps, unexplained.suspenseId))) return DONE
  const isYoung = addMs(transaction.updatedAt, OPEN_TIMEOUT_MS) > deps.now()
  if (isYoung && !(await ask.allowed())) return OPEN
  const outcome = await applyProviderNews(deps, { providerPaymentId, paymentRequestId }, 'sync')
  if (outcome.kind === 'deferred') return OPEN
  if (outcome.kind === 'unanswered' || outcome.kind === 'not_shown') {
    if (outcome.kind === 'unanswered') await ask.unanswered(outcome.reason)
    if (isYoung) return OPEN
    await recordSuspense(deps, unexplained)
    return DONE
  }
  const stored = paymentId && (await findStoredPayment(deps, paymentId))
  if (isCreditedWith(stored, transaction)) return reconcileCredited(deps, stored, transaction)
  const heldNow = await findSuspense(deps, subject)
  if (heldNow) return reconcileSuspense(deps, heldNow, transaction)
  await recordSuspense(deps, { ...unexplained, paymentId: stored?.paymentId, clientId: stored?.clientId })
  // What names a payment of ours is money that the provider may show later, whatever became of the payment.
  return stored !== undefined && isYoung ? OPEN : DONE
}

/**
 * Whether a row of its own that takes money back is about the money a payment was credited with: it names it, or names
 * no payment at all beside the payment's reference. Which ids such rows carry no document says.
 */
const isAboutCredit = (known: Payment | undefined, transaction: ProviderTransaction): known is Payment =>
  known?.status === 'succeeded' && (transaction.providerPaymentId === '' || isCreditedWith(known, transaction))

/**
 * A row that is no payment, or of a type or status that we do not know: a finding for a person, once for each
 * transaction, and the house's in the books. The account's own affairs are booked without a finding.
 */
const recordOther = async (
  deps: NewsDeps,
  transaction: ProviderTransaction,
  known: Payment | undefined,
): Promise<Reconciled> => {
  const { type, status, transactionId: subject, providerPaymentId } = transaction
  const isFinal = status === 'success'
  if (type === 'account' && status !== 'unknown' && known === undefined) {
    if (isFinal) await bookAccountRow(deps, transaction)
    return PASSED_OVER
  }
  if (movesMoney(transaction) && isAboutCredit(known, transaction)) return reconcileCredited(deps, known, transaction)
  const held = providerPaymentId === '' ? undefined : await findSuspense(deps, providerPaymentId)
  if (held?.kind === 'money') return reconcileSuspense(deps, held, transaction)
  const cause = movesMoney(transaction) ? 'reversed_upstream' : 'transaction_unexplained'
  await recordSuspense(deps, syncFinding(deps, transaction, { subject, cause, payment: known }))
  if (isFinal) await bookUnmatched(deps, houseRowOf(transaction))
  return DONE
}

/** What left our account for our bank, and everything else that the account did by itself. */
const bookAccountRow = (deps: NewsDeps, transaction: ProviderTransaction): Promise<void> =>
  transaction.isWithdrawal === true
    ? bookWithdrawal(deps, houseRowOf(transaction), transaction.amountMinor)
    : bookUnmatched(deps, houseRowOf(transaction))

/** Whether its payment can still be credited: pending, or being created, which nobody is shown yet. */
const isUndecided = async (
  deps: NewsDeps,
  { reference }: ProviderTransaction,
  known: Payment | undefined,
): Promise<boolean> => {
  if (known !== undefined) return known.status === 'pending'
  const paymentId = paymentIdOf(reference)
  const stored = paymentId && (await findStoredPayment(deps, paymentId))
  return stored !== undefined && (stored.status === 'creating' || stored.status === 'pending')
}

/**
 * Holds one of the provider's transactions against our books (design section 4, "Sync"). `known` is the payment its
 * reference names, as it was a moment ago: conditions decide where that matters. Safe to repeat.
 */
export const reconcileTransaction = async (
  deps: NewsDeps,
  transaction: ProviderTransaction,
  known: Payment | undefined,
  ask: AskAbout,
): Promise<Reconciled> => {
  const { type, status } = transaction
  if (type === 'unknown' || status === 'unknown') return recordOther(deps, transaction, known)
  if (status === 'pending' || status === 'failed') return PASSED_OVER
  // What was paid decides first, then what became of it.
  const isAsked = movesMoney(transaction) && transaction.providerPaymentId !== ''
  if (isAsked && (await isUndecided(deps, transaction, known))) return askAndReconcile(deps, transaction, ask)
  if (type !== 'payment') return recordOther(deps, transaction, known)
  if (isCreditedWith(known, transaction)) return reconcileCredited(deps, known, transaction)
  if (status === 'success') {
    const credited = await creditByRow(deps, known, transaction)
    if (credited) return reconcileCredited(deps, credited, transaction)
    return askAndReconcile(deps, transaction, ask)
  }
  // Money that came and went again without a credit: a person must look where a payment of ours is named, no more.
  if (known) await recordFinding(deps, known, transaction, 'reversed_upstream')
  return known ? DONE : PASSED_OVER
}
