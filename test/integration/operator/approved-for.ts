import { handler as adjustLedger } from '../../../functions/admin/adjust-ledger.ts'
import { handler as approveAction } from '../../../functions/admin/approve.ts'
import { type Approvable, approvalIdOf } from '../../../shared/operator/approval-store.ts'
import { approvalKey } from '../../../shared/table/keys.ts'
import { invokeWhole, OPERATOR, withClient } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { APPROVER, askedApproval } from '../../support/with-approval.ts'

/** The approval is given before, so that a raced call sends its own transaction first. */
export async function approvedFor(
  deps: TestDeps,
  handler: Parameters<typeof invokeWhole>[0],
  input: object,
) {
  const { body } = await invokeWhole(handler, deps, { operator: OPERATOR, ...input })
  const asked = askedApproval(Object(body).action_hint)
  await approve(deps, asked)
  return (own: TestDeps = deps, fields: object = {}) =>
    invokeWhole(handler, own, { operator: OPERATOR, ...input, ...fields })
}

export function approve(deps: TestDeps, approved: Approvable | undefined, operator = APPROVER) {
  return invokeWhole(approveAction, deps, { ...approved, operator })
}

export async function aCorrection() {
  const { deps, clientId } = await withClient()
  const figures = { client_id: clientId, kind: 'correction', amount_minor: 5_000, reference: 'C-1' }
  const asked = { action: 'adjust-ledger', payload: figures } as const
  const adjust = (own = deps) => invokeWhole(adjustLedger, own, { operator: OPERATOR, ...figures })
  return { deps, clientId, asked, key: approvalKey(approvalIdOf(asked)), adjust }
}
