import { usedIn } from '../audit/judged/audit-approval.ts'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import type { SettlementId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { ApprovalSchema, findStoredApproval } from '../operator/approval-store.ts'
import { readAuditRecords } from '../operator/audit-record-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { isCovered, payoutFigures } from './payout-figures.ts'

/**
 * The debt and the findings may have grown between the read and the commit that used the approval
 * up. A failure is logged, and changes nothing about the payout. `batch`: the settlement is in this
 * batch, and not paid yet.
 */
export async function alertGrowth(
  deps: StoreDeps & Pick<Deps, 'alerts' | 'log'>,
  settlement: Settlement,
  batch?: number,
) {
  const { settlementId } = settlement
  try {
    const { owed = 0, findings = 0 } = await payoutFigures(deps, settlement)
    if (owed + findings === 0) return
    const approved = await usedFigures(deps, settlementId)
    if (isCovered({ owed, findings }, approved)) return
    const done = batch === undefined ? 'was marked paid' : `entered payout batch ${batch}`
    const hint =
      batch === undefined
        ? ''
        : ` If no bank has the file of the batch, payout-file --cancel ${batch} cancels it.`
    deps.log.warn('payout.changed', { settlement_id: settlementId })
    await deps.alerts.publish({
      kind: 'payout.changed',
      subject: settlementId,
      message:
        `Settlement ${settlementId} ${done} while its figures grew: the client owes ` +
        `${owed} IDR, and ${findings} findings name its payments. The approval named ` +
        `${approved['owed']} and ${approved['findings']}. Check it with list-suspense.` +
        hint,
    })
  } catch (cause) {
    deps.log.error('alert.failed', { settlement_id: settlementId }, cause)
  }
}

/** Of the approval that the last record has used: an earlier payout may have used one too. */
async function usedFigures(deps: TableDeps, settlementId: SettlementId) {
  const of = { action: 'mark-settlement-paid', payload: { settlement_id: settlementId } } as const
  const approval = ifValid(ApprovalSchema, await findStoredApproval(deps, of))
  const [last] = (await readAuditRecords(deps, settlementId)).records.slice(-1)
  const isUsed = approval && last && usedIn(last)?.at === approval.at
  return { owed: 0, findings: 0, ...(isUsed && approval.payload) }
}
