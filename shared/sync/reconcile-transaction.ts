import type { Deps } from '../deps.ts'
import { feeByKept, isForAmount } from '../payment/fee/actual-fee.ts'
import { makeFeeFinal, noteProviderSettled } from '../payment/fee/fee-store.ts'
import { applyProviderNews } from '../payment/news/apply-provider-news.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { paymentIdOf } from '../payment/provider-attempts.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import type { FindingCause, Suspense } from '../suspense/suspense.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import { addMs, DAY_MS } from '../time.ts'

export type ReconcileDeps = Pick<Deps, 'stage' | 'table' | 'provider' | 'now' | 'newId' | 'log' | 'alerts'>

/**
 * `open`: nobody could be asked about it; look at it again in the next round. `passed_over`: not about any payment, or not
 * decided yet.
 */
export type Reconciled = 'done' | 'open' | 'rate_limited' | 'passed_over'

/** How long a transaction is asked about again before a person must look at it. */
const OPEN_TIMEOUT_MS = 2 * DAY_MS

const credits = (stored: StoredPayment | undefined, transaction: ProviderTransaction): stored is Payment =>
  stored !== undefined &&
  stored.status !== 'creating' &&
  stored.creditedProviderPaymentId === transaction.providerPaymentId

/** A finding with the transaction's own figures, so that whoever looks at it need not search for them. */
const findingOf = (
  deps: ReconcileDeps,
  transaction: ProviderTransaction,
  about: { readonly subject: string; readonly cause: FindingCause; readonly payment: StoredPayment | undefined },
): Suspense => ({
  ...finding({ ...about, now: deps.now() }),
  amountMinor: about.cause === 'fee_changed' ? transaction.keptMinor : transaction.amountMinor,
  providerPaymentId: transaction.providerPaymentId || undefined,
})

const recordFinding = (deps: ReconcileDeps, payment: Payment, transaction: ProviderTransaction, cause: FindingCause) =>
  recordSuspense(deps, findingOf(deps, transaction, { subject: payment.paymentId, cause, payment }))

/**
 * `estimated` becomes `actual` once; a fee that is final already and differs is a finding, never a correction. Answers
 * the payment as it then is.
 */
const reconcileFee = async (
  deps: ReconcileDeps,
  payment: Payment,
  transaction: ProviderTransaction,
): Promise<Payment> => {
  const { keptMinor, settledAt } = transaction
  if (keptMinor === undefined) return payment
  let current = payment
  if (payment.feeStatus === 'estimated') {
    const fee = feeByKept(deps, payment, keptMinor)
    if (fee.kind === 'below_zero') {
      await recordFinding(deps, payment, transaction, 'fee_changed')
      return payment
    }
    const { feeMinor, invoiced } = fee
    const final = await makeFeeFinal(deps, payment, { status: 'actual', feeMinor, invoiced, settledAt })
    if (final) return final
    // Somebody made it final since this page was read.
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (!credits(stored, transaction)) return payment
    current = stored
  }
  const expectedMinor = current.finalFee?.invoiced === true ? 0 : current.providerFeeMinor
  if (expectedMinor !== keptMinor) await recordFinding(deps, current, transaction, 'fee_changed')
  return current
}

const reconcileCredited = async (
  deps: ReconcileDeps,
  payment: Payment,
  transaction: ProviderTransaction,
): Promise<void> => {
  if (transaction.status === 'reversed') return recordFinding(deps, payment, transaction, 'reversed_upstream')
  if (!isForAmount(transaction, payment)) return recordFinding(deps, payment, transaction, 'amount_differs')
  const current = await reconcileFee(deps, payment, transaction)
  if (transaction.settledAt !== undefined && current.providerSettledAt === undefined) {
    await noteProviderSettled(deps, payment, transaction.settledAt)
  }
}

/**
 * Money that no payment is credited with: the one door for news decides, so that a capture whose callback was lost is
 * credited or held. What the provider itself cannot explain is a finding, and is asked about again while it is among
 * the transactions read: a payment that is not there today may be there in an hour.
 */
const reconcileUncredited = async (deps: ReconcileDeps, transaction: ProviderTransaction): Promise<Reconciled> => {
  const { providerPaymentId, paymentRequestId, transactionId } = transaction
  const paymentId = paymentIdOf(transaction.reference)
  const subject = providerPaymentId || transactionId
  const unexplained = findingOf(deps, transaction, { subject, cause: 'transaction_unexplained', payment: undefined })
  // Held already: asking again would only find the same.
  if (await findSuspense(deps, subject)) return 'done'
  // Another product of the same provider account: noting it once is enough.
  if (paymentId === undefined && (await findSuspense(deps, unexplained.suspenseId))) return 'done'
  const outcome = await applyProviderNews(deps, { providerPaymentId, paymentRequestId }, 'sync')
  if (outcome.kind === 'deferred') return 'open'
  if (outcome.kind === 'unanswered' || outcome.kind === 'not_shown') {
    if (outcome.kind === 'unanswered' && outcome.reason === 'rate_limited') return 'rate_limited'
    if (addMs(transaction.updatedAt, OPEN_TIMEOUT_MS) > deps.now()) return 'open'
    await recordSuspense(deps, unexplained)
    return 'done'
  }
  const stored = paymentId && (await findStoredPayment(deps, paymentId))
  if (credits(stored, transaction)) {
    await reconcileCredited(deps, stored, transaction)
  } else if (!(await findSuspense(deps, subject))) {
    await recordSuspense(deps, { ...unexplained, paymentId: stored?.paymentId, clientId: stored?.clientId })
  }
  return 'done'
}

/**
 * What is no payment, or of a type or status that we do not know: a finding for a person, once for each transaction, and
 * nothing is credited. Only the account's own affairs, such as a withdrawal, are nobody's business here.
 */
const recordOther = async (
  deps: ReconcileDeps,
  transaction: ProviderTransaction,
  known: Payment | undefined,
): Promise<Reconciled> => {
  const { type, status, transactionId: subject } = transaction
  if (type === 'account' && status !== 'unknown' && known === undefined) return 'passed_over'
  const cause = type === 'return' && status === 'success' ? 'reversed_upstream' : 'transaction_unexplained'
  await recordSuspense(deps, findingOf(deps, transaction, { subject, cause, payment: known }))
  return 'done'
}

/**
 * Holds one of the provider's transactions against our books (design section 4, "Sync"). `known` is the payment its
 * reference names, as it was a moment ago. Safe to repeat.
 */
export const reconcileTransaction = async (
  deps: ReconcileDeps,
  transaction: ProviderTransaction,
  known: Payment | undefined,
): Promise<Reconciled> => {
  const { type, status } = transaction
  if (type === 'unknown' || status === 'unknown') return recordOther(deps, transaction, known)
  if (status === 'pending' || status === 'failed') return 'passed_over'
  if (type !== 'payment') return recordOther(deps, transaction, known)
  if (credits(known, transaction)) {
    await reconcileCredited(deps, known, transaction)
    return 'done'
  }
  if (status === 'success') return reconcileUncredited(deps, transaction)
  // Money that came and went again without a credit: a person must look where a payment of ours is named, no more.
  if (known) await recordFinding(deps, known, transaction, 'reversed_upstream')
  return known ? 'done' : 'passed_over'
}
