import { type Approvable, approvalHint, wasApproved } from '../operator/approval-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import type { Suspense } from '../suspense/suspense.ts'
import type { Timestamp } from '../time.ts'
import type { RecountDeps } from './plan.ts'

/**
 * Names what raises what leaves the house, if no second person has approved it (design section 11):
 * its rows may be forged. With an approval a later plan writes it.
 */
export async function unapproved(
  deps: RecountDeps,
  id: string,
  approvable: Approvable,
  at: Timestamp,
) {
  if (await wasApproved(deps, approvable, at)) return []
  const why = `its rows show ${approvable.action} without an approval. ${approvalHint(approvable)}`
  return [{ id, why, ends: [] }]
}

/** Of a re-credit or a return. */
export async function unapprovedAgain(deps: RecountDeps, settlement: Settlement) {
  const { settlementId: id, status, recreditedAt, returnedAt } = settlement
  const at = recreditedAt ?? returnedAt
  if (at === undefined) return []
  const action = recreditedAt ? 'recredit-settlement' : 'return-payout'
  if (status !== (recreditedAt ? 'failed' : 'manual_paid'))
    return [{ id, why: `its rows show ${action}, but it is ${status}`, ends: [] }]
  return unapproved(deps, id, { action, payload: { settlement_id: id } }, at)
}

/** Of held money that our bank has paid back. */
export async function unapprovedRefund(deps: RecountDeps, item: Suspense) {
  const { suspenseId: id, resolution, createdAt: at } = item
  if (resolution !== 'refunded_by_bank') return []
  const payload = { suspense_id: id, resolution }
  return unapproved(deps, id, { action: 'resolve-suspense', payload }, at)
}
