import { paymentIdOf } from '../../../shared/ids.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { reconcileTransaction } from '../../../shared/sync/reconcile-transaction.ts'
import type { TestDeps } from '../../support/test-deps.ts'

const ASK = { allowed: async () => true, unanswered: async () => {} }

const syncRow = async (deps: TestDeps, row: ProviderTransaction): Promise<void> => {
  const paymentId = paymentIdOf(row.reference)
  const stored = paymentId && (await findStoredPayment(deps, paymentId))
  const known = stored === undefined || stored.status === 'creating' ? undefined : stored
  await reconcileTransaction(deps, row, known, ASK)
}

/** The sync reads every row of the provider. */
export const syncRows = async (deps: TestDeps): Promise<void> => {
  for (const row of deps.provider.transactions) await syncRow(deps, row)
}

const callbacks = (deps: TestDeps): readonly (() => Promise<unknown>)[] => [
  ...[...deps.provider.payments.keys()].map(
    (providerPaymentId) => () => applyProviderNews(deps, { providerPaymentId }, 'callback'),
  ),
  ...[...deps.provider.requests.keys()].map(
    (paymentRequestId) => () => applyProviderNews(deps, { paymentRequestId }, 'callback'),
  ),
]

/** The provider calls again about everything it has, and the sync reads every row. */
export const hearEverything = async (deps: TestDeps): Promise<void> => {
  for (const hear of callbacks(deps)) await hear()
  await syncRows(deps)
}

/** The provider calls about torn rows: what fails on one is answered 500, and comes again later. */
export const hearCallbacks = async (deps: TestDeps): Promise<void> => {
  for (const hear of callbacks(deps)) await hear().catch(() => undefined)
}
