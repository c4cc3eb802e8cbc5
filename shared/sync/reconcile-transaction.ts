import { isForAmount } from '../payment/fee/actual-fee.ts'
import { noteProviderSettled } from '../payment/fee/fee-store.ts'
import { applyProviderNews } from '../payment/news/apply-provider-news.ts'
import type { NewsDeps } from '../payment/news/news-deps.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { paymentIdOf } from '../payment/provider-attempts.ts'
import type { ProviderTransaction, Unanswered } from '../provider/provider.ts'
import { reversePayment } from '../reversal/reverse-payment.ts'
import { undoReversal } from '../reversal/undo-reversal.ts'
import { recordSuspense } from '../suspense/record-suspense.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import { addMs, DAY_MS } from '../time.ts'
import { creditByRow } from './credit-by-row.ts'
import { reconcileFee } from './reconcile-fee.ts'
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

/** A row about money that went back, and not about what was paid. */
const movesBack = (transaction: ProviderTransaction): boolean =>
  isMoneyBack(transaction) || transaction.comesAgain === true

/** A payment's own row that has turned, or money that went back in a row of its own. */
const isMoneyBack = ({ type, status }: ProviderTransaction): boolean =>
  type === 'payment' ? status === 'reversed' : type === 'return' && status === 'success'

const reconcileCredited = async (
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
): Promise<Reconciled> => {
  const credited: Reconciled = { kind: 'credited', payment }
  if (isMoneyBack(transaction)) {
    const { type, transactionId, amountMinor } = transaction
    const kind = transaction.returns ?? (type === 'payment' ? 'reversed' : 'refund')
    await reversePayment(deps, payment, { transactionId, kind, amountMinor })
    return DONE
  }
  if (transaction.comesAgain) return reconcileUndone(deps, payment, transaction)
  if (!isForAmount(transaction, payment)) {
    await recordFinding(deps, payment, transaction, 'amount_differs')
    return DONE
  }
  const current = await reconcileFee(deps, payment, transaction)
  if (transaction.settledAt !== undefined && current.providerSettledAt === undefined) {
    await noteProviderSettled(deps, payment, transaction.settledAt)
  }
  return credited
}

/** What comes again may be heard of before that it went: it is looked at again while it is young. */
const reconcileUndone = async (
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
): Promise<Reconciled> => {
  const { transactionId, amountMinor, updatedAt } = transaction
  const undone = await undoReversal(deps, payment, { transactionId, amountMinor })
  if (undone === 'undone') return DONE
  if (undone === 'too_early' && addMs(updatedAt, OPEN_TIMEOUT_MS) > deps.now()) return OPEN
  await recordSuspense(
    deps,
    syncFinding(deps, transaction, { subject: transactionId, cause: 'undone_unclear', payment }),
  )
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
  if (await findSuspense(deps, subject)) return DONE
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
  if (await findSuspense(deps, subject)) return DONE
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
 * What is no payment, or of a type or status that we do not know: a finding for a person, once for each transaction, and
 * nothing is credited. Only the account's own affairs, such as a withdrawal, are nobody's business here.
 */
const recordOther = async (
  deps: NewsDeps,
  transaction: ProviderTransaction,
  known: Payment | undefined,
): Promise<Reconciled> => {
  const { type, status, transactionId: subject } = transaction
  if (type === 'account' && status !== 'unknown' && known === undefined) return PASSED_OVER
  if (movesBack(transaction) && isAboutCredit(known, transaction)) return reconcileCredited(deps, known, transaction)
  const cause = isMoneyBack(transaction) ? 'reversed_upstream' : 'transaction_unexplained'
  await recordSuspense(deps, syncFinding(deps, transaction, { subject, cause, payment: known }))
  return DONE
}

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
  const isAsked = movesBack(transaction) && transaction.providerPaymentId !== ''
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
