import type { NewsDeps } from '../payment/news/news-deps.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import type { FindingCause, Suspense } from '../suspense/suspense.ts'

export const isCreditedWith = (
  stored: StoredPayment | undefined,
  transaction: ProviderTransaction,
): stored is Payment =>
  stored !== undefined &&
  stored.status !== 'creating' &&
  stored.creditedProviderPaymentId === transaction.providerPaymentId

/** A finding with the transaction's own figures, so that the operator need not search for them. */
export const syncFinding = (
  deps: NewsDeps,
  transaction: ProviderTransaction,
  about: { readonly subject: string; readonly cause: FindingCause; readonly payment: StoredPayment | undefined },
): Suspense => ({
  ...finding({ ...about, now: deps.now() }),
  amountMinor: about.cause === 'fee_changed' ? transaction.keptMinor : transaction.amountMinor,
  providerPaymentId: transaction.providerPaymentId || undefined,
})

export const recordFinding = (
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
  cause: FindingCause,
) => recordSuspense(deps, syncFinding(deps, transaction, { subject: payment.paymentId, cause, payment }))
