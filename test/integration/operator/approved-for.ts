import { handler as approveAction } from '../../../functions/admin/approve.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
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
  await invokeWhole(approveAction, deps, { ...asked, operator: APPROVER })
  return (own: TestDeps = deps, fields: object = {}) =>
    invokeWhole(handler, own, { operator: OPERATOR, ...input, ...fields })
}
