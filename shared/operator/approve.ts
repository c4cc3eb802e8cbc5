import { invalid } from '../errors.ts'
import {
  type Approvable,
  type Approval,
  approvalIdOf,
  approvalOwner,
  approvalSubject,
  isOfSettlement,
  newApproval,
  putApproval,
} from './approval-store.ts'
import { type RecordDeps, recordChange } from './audit-record-store.ts'

/**
 * Approves one action with exactly these figures, for 72 hours and one use (design section 11). It
 * changes no money, and needs no action to exist: what is never asked for expires. A later approval
 * of the same subject replaces this one.
 */
export async function approve(
  deps: RecordDeps,
  input: Approvable & { readonly operator: string; readonly notes?: string | undefined },
) {
  const { operator, notes } = input
  assertNamesSubject(input)
  const approval = newApproval(input, operator, deps.now())
  const subject = approvalSubject(approvalIdOf(approval))
  const clientId = approvalOwner(approval.payload)
  const after = { ...toApprovalDto(approval), notes: notes ?? null }
  const record = { subject, clientId, operator, action: 'approve', after }
  await recordChange(deps, record, { approval: putApproval(approval) })
  return toApprovalDto(approval)
}

/** Without the settlement one approval would be good for any. */
function assertNamesSubject({ action, payload }: Approvable): void {
  if (!isOfSettlement(action) || typeof payload['settlement_id'] === 'string') return
  const reason = `of ${action} names a settlement_id`
  throw invalid(`payload: ${reason}`, { payload: [reason] })
}

export function toApprovalDto({ action, payload, operator, at, until, usedAt }: Approval) {
  return { action, payload, approved_by: operator, at, until, used_at: usedAt ?? null }
}
