import type { Deps } from '../deps.ts'
import { applyProviderReport } from '../payment/apply-provider-report.ts'
import { makeFeeFinal, noteProviderSettled } from '../payment/fee-store.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { paymentIdOf } from '../payment/provider-attempts.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import type { FindingCause } from '../suspense/suspense.ts'
import { findSuspense } from '../suspense/suspense-store.ts'

type ReconcileDeps = Pick<Deps, 'table' | 'sleep' | 'random' | 'provider' | 'now' | 'newId' | 'log' | 'alerts'>

/** `unanswered`: look at it again in the next run. */
export type Reconciled = 'done' | 'unanswered' | 'rate_limited'

const credits = (stored: StoredPayment | undefined, transaction: ProviderTransaction): stored is Payment =>
  stored !== undefined && stored.status !== 'creating' && stored.creditedPaymentId === transaction.providerPaymentId

const note = (deps: ReconcileDeps, payment: Payment, cause: FindingCause) =>
  recordSuspense(deps, finding({ subject: payment.paymentId, cause, payment, now: deps.now() }))

/** `estimated` becomes `actual` once; a fee that is final already and differs is a finding, never a correction. */
const reconcileFee = async (deps: ReconcileDeps, payment: Payment, keptMinor: Payment['netMinor']): Promise<void> => {
  if (payment.feeStatus === 'estimated') {
    if (keptMinor === 0 && payment.providerFeeMinor > 0) return note(deps, payment, 'zero_fee')
    if (await makeFeeFinal(deps, payment, keptMinor, 'actual')) return undefined
  }
  const stored = await findStoredPayment(deps, payment.paymentId)
  if (stored?.status === 'succeeded' && stored.feeStatus !== 'estimated' && stored.providerFeeMinor !== keptMinor) {
    await note(deps, stored, 'fee_changed')
  }
}

const reconcileCredited = async (
  deps: ReconcileDeps,
  payment: Payment,
  transaction: ProviderTransaction,
): Promise<void> => {
  if (transaction.status === 'reversed') return note(deps, payment, 'reversed_upstream')
  if (transaction.amountMinor !== payment.notionalMinor || transaction.currency !== payment.currency) {
    return note(deps, payment, 'amount_differs')
  }
  if (transaction.keptMinor !== undefined) await reconcileFee(deps, payment, transaction.keptMinor)
  if (transaction.settledAt !== undefined && payment.providerSettledAt === undefined) {
    await noteProviderSettled(deps, payment, transaction.settledAt)
  }
}

/**
 * Holds one of the provider's transactions against our books (design section 4, "Sync"). Money a payment does not know
 * of goes through the one door for news, so a capture whose callback was lost is credited or held. Safe to repeat.
 */
export const reconcileTransaction = async (
  deps: ReconcileDeps,
  transaction: ProviderTransaction,
): Promise<Reconciled> => {
  if (transaction.status !== 'success' && transaction.status !== 'reversed') return 'done'
  const paymentId = paymentIdOf(transaction.reference)
  const stored = paymentId && (await findStoredPayment(deps, paymentId))
  if (credits(stored, transaction)) {
    await reconcileCredited(deps, stored, transaction)
    return 'done'
  }
  const unexplained = finding({
    subject: transaction.providerPaymentId,
    cause: 'transaction_unexplained',
    payment: stored,
    now: deps.now(),
  })
  // Held or noted already: asking again would only find the same.
  if (await findSuspense(deps, transaction.providerPaymentId)) return 'done'
  if (await findSuspense(deps, unexplained.suspenseId)) return 'done'
  const outcome = await applyProviderReport(deps, { providerPaymentId: transaction.providerPaymentId }, 'sync')
  if (outcome.kind === 'unanswered') return outcome.reason === 'rate_limited' ? 'rate_limited' : 'unanswered'
  // Another product of the same provider account, or a payment the provider itself cannot show: a person must look.
  if (outcome.kind === 'not_found') await recordSuspense(deps, unexplained)
  const after = paymentId && (await findStoredPayment(deps, paymentId))
  if (credits(after, transaction)) await reconcileCredited(deps, after, transaction)
  return 'done'
}
