import { usedIn } from '../audit/judged/audit-approval.ts'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import type { SettlementId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { approvalSubject, FiguresSchema } from '../operator/approval-store.ts'
import { readAuditRecords } from '../operator/audit-record-store.ts'
import { cancelHint } from '../settlement/batch/batch.ts'
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
    const [done, hint] =
      batch === undefined
        ? ['was marked paid', '']
        : [`entered payout batch ${batch}`, ` ${cancelHint(batch)}`]
    deps.log.warn('payout.changed', { settlement_id: settlementId })
    await deps.alerts.publish({
      kind: 'payout.changed',
      subject: settlementId,
      message:
        `Settlement ${settlementId} ${done}, and by now its figures are higher: the client owes ` +
        `${owed} IDR, and ${findings} findings name its payments. Approved were ` +
        `${approved['owed']} and ${approved['findings']}. Check it with list-suspense.` +
        hint,
    })
  } catch (cause) {
    deps.log.error('alert.failed', { settlement_id: settlementId }, cause)
  }
}

/**
 * Of the approval that the last record has used: an earlier payout may have used one too. By the
 * record of the approval: a later one replaces its row.
 */
async function usedFigures(deps: TableDeps, settlementId: SettlementId) {
  const last = (await readAuditRecords(deps, settlementId)).records.at(-1)
  const used = last && usedIn(last)
  const approvals = used ? await readAuditRecords(deps, approvalSubject(used.id)) : undefined
  const approval = approvals?.records.find(({ after }) => after?.['at'] === used?.at)
  return { owed: 0, findings: 0, ...ifValid(FiguresSchema, approval?.after?.['payload']) }
}
