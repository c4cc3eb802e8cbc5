import { SettlementIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { findSettlements } from '../settlement/settlement-store.ts'
import { recordSuspense } from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { findSuspenseByIds } from '../suspense/suspense-store.ts'
import { notePayoutRow } from './job-store.ts'
import { syncFinding } from './provider-row.ts'

/**
 * A row out that names a settlement is the payout that the provider made by its own template
 * (design section 15). In the books the row brings its amount to our bank, from where the
 * settlement takes its net when it is marked paid. A row of another amount, of a failed settlement,
 * or of a settlement with another row is a finding. Undefined for any other row.
 */
export async function payoutOfRow(
  deps: NewsDeps,
  transaction: ProviderTransaction,
): Promise<{ readonly finding: Suspense | undefined } | undefined> {
  const { providerMinor, amountMinor } = transaction
  const settlement = providerMinor < 0 ? await findNamedSettlement(deps, transaction) : undefined
  if (settlement === undefined) return undefined
  const isOnly = await notePayoutRow(deps, settlement, transaction)
  const isAsMade = settlement.netMinor === amountMinor && settlement.status !== 'failed' && isOnly
  return { finding: isAsMade ? undefined : syncFinding(deps, transaction, {}) }
}

async function findNamedSettlement(
  deps: NewsDeps,
  { reference }: ProviderTransaction,
): Promise<Settlement | undefined> {
  const settlementId = ifValid(SettlementIdSchema, reference)
  const [settlement] = settlementId ? await findSettlements(deps, [settlementId]) : []
  return settlement
}

/**
 * A payout whose booked row became void did not reach the merchant, unless another row made it
 * again. Only an operator can say what follows. Safe to repeat: a void has one finding.
 */
export async function recordUndonePayout(
  deps: NewsDeps,
  transaction: ProviderTransaction,
): Promise<void> {
  const settlement = await findNamedSettlement(deps, transaction)
  if (settlement === undefined || settlement.returnedAt !== undefined) return
  const isOnly = await notePayoutRow(deps, settlement, transaction)
  const ending = (end: string) =>
    syncFinding(deps, transaction, { subject: `${transaction.transactionId}#${end}` })
  const [undone, beside] = [ending(settlement.settlementId), ending('reversal')]
  const known = await findSuspenseByIds(deps, [undone.suspenseId, beside.suspenseId])
  if (known.length === 0) await recordSuspense(deps, isOnly ? undone : beside)
}
