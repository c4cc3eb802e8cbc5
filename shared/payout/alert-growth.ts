import type { Deps, StoreDeps } from '../deps.ts'
import type { ApprovedFigures } from '../operator/approval-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { isCovered, payoutFigures } from './payout-figures.ts'

/**
 * The debt and the findings may have grown between the read and the commit that used the approval
 * up. A failure is logged, and changes nothing about the payout.
 */
export async function alertGrowth(
  deps: StoreDeps & Pick<Deps, 'alerts' | 'log'>,
  settlement: Settlement,
  { approved = {}, batch }: Committed,
): Promise<void> {
  const { settlementId } = settlement
  try {
    const { owed = 0, findings = 0 } = await payoutFigures(deps, settlement)
    if (isCovered({ owed, findings }, { owed: 0, findings: 0, ...approved })) return
    deps.log.warn('payout.changed', { settlement_id: settlementId })
    await deps.alerts.publish({
      kind: 'payout.changed',
      subject: settlementId,
      message:
        `Settlement ${settlementId} ${doneTo(batch)} while its figures grew: the client owes ` +
        `${owed} IDR, and ${findings} findings name its payments. The approval named ` +
        `${approved['owed'] ?? 0} and ${approved['findings'] ?? 0}. Check it with list-suspense.` +
        cancelHint(batch),
    })
  } catch (cause) {
    deps.log.error('alert.failed', { settlement_id: settlementId }, cause)
  }
}

/** What used the approval up: a payout, or a place in a batch, which no bank may have paid yet. */
type Committed = { readonly approved: ApprovedFigures | undefined; readonly batch?: number }

function doneTo(batch: number | undefined): string {
  return batch === undefined ? 'was marked paid' : `entered payout batch ${batch}`
}

function cancelHint(batch: number | undefined): string {
  if (batch === undefined) return ''
  return ` If no bank has the file of the batch, payout-file --cancel ${batch} cancels it.`
}
