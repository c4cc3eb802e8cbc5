import { type Approvable, approvalIdOf } from '../../../shared/operator/approval-store.ts'
import { approvalKey } from '../../../shared/table/keys.ts'
import { invokeWhole, OPERATOR, withClient } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { APPROVER, askedApproval } from '../../support/with-approval.ts'

/** The approval is given before, so that a raced call sends its own transaction first. */
export async function approvedFor(deps: TestDeps, action: string, input: object) {
  const { body } = await invokeWhole(action, deps, { operator: OPERATOR, ...input })
  const asked = askedApproval(Object(body).action_hint)
  await approve(deps, asked)
  return (own: TestDeps = deps, fields: object = {}) =>
    invokeWhole(action, own, { operator: OPERATOR, ...input, ...fields })
}

export function approve(deps: TestDeps, approved: Approvable | undefined, operator = APPROVER) {
  return invokeWhole('approve', deps, { ...approved, operator })
}

export async function aCorrection() {
  const { deps, clientId } = await withClient()
  const figures = { client_id: clientId, kind: 'correction', amount_minor: 5_000, reference: 'C-1' }
  const asked = { action: 'adjust-ledger', payload: figures } as const
  const adjust = (own = deps) =>
    invokeWhole('adjust-ledger', own, { operator: OPERATOR, ...figures })
  return { deps, clientId, asked, key: approvalKey(approvalIdOf(asked)), adjust }
}
