import { SettlementIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { findSettlements } from '../settlement/settlement-store.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { syncFinding } from './provider-row.ts'

/**
 * A row out that names a settlement is the payout that the provider made by its own template
 * (design section 15). In the books the row brings its amount to our bank, from where the
 * settlement takes its net when it is marked paid. A row of another amount, or of a failed
 * settlement, is a finding. Undefined for any other row.
 */
export async function payoutOfRow(
  deps: NewsDeps,
  transaction: ProviderTransaction,
): Promise<{ readonly finding: Suspense | undefined } | undefined> {
  const { reference, providerMinor, amountMinor, transactionId: subject } = transaction
  const settlementId = ifValid(SettlementIdSchema, reference)
  if (settlementId === undefined || providerMinor >= 0) return undefined
  const [settlement] = await findSettlements(deps, [settlementId])
  if (settlement === undefined) return undefined
  const isAsMade = settlement.netMinor === amountMinor && settlement.status !== 'failed'
  const about = { subject, cause: 'transaction_unexplained', payment: undefined } as const
  return { finding: isAsMade ? undefined : syncFinding(deps, transaction, about) }
}
