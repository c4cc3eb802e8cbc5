import * as v from 'valibot'
import { acceptDifference } from '../../shared/audit/accept-difference.ts'
import type { Deps } from '../../shared/deps.ts'
import { GatewayError } from '../../shared/errors.ts'
import type { ClientId } from '../../shared/ids.ts'
import { APPROVED_ACTIONS } from '../../shared/operator/approval-store.ts'
import { approve } from '../../shared/operator/approve.ts'
import type { Difference } from '../../shared/verdict/difference.ts'

/**
 * Acts; if the action needs an approval that the second person gives, the action is repeated.
 * `approves`: whether the second person does.
 */
export async function withApproval<Result>(
  deps: Deps,
  act: () => Promise<Result>,
  approves: (asked: Asked) => boolean = () => true,
) {
  try {
    return await act()
  } catch (error) {
    const asked = error instanceof GatewayError && askedApproval(error.details.actionHint)
    if (!asked || !approves(asked)) throw error
    await approve(deps, { ...asked, operator: APPROVER })
    return act()
  }
}

/** Finance accepts a difference: of the gateway, unless a client is given. */
export function accept(deps: Deps, difference: Difference, clientId?: ClientId) {
  const accepted = { difference, clientId, operator: 'ana', notes: 'known' }
  return withApproval(deps, () => acceptDifference(deps, accepted))
}

/** A second person approves these figures of the payout. */
export function approvePayout(
  deps: Deps,
  { settlementId: settlement_id }: { readonly settlementId: string },
  figures: Readonly<Record<string, number | string>>,
) {
  const payload = { settlement_id, ...figures }
  return approve(deps, { action: 'mark-settlement-paid', payload, operator: APPROVER })
}

export const APPROVER = 'wati@gateway.example'

const COMMAND = /runs: approve --action (\S+) --payload '(\{.*?\})'\. /

const Asked = v.object({
  action: v.picklist(APPROVED_ACTIONS),
  payload: v.record(v.string(), v.union([v.string(), v.number()])),
})
export type Asked = v.InferOutput<typeof Asked>

/** The approval that a refusal asks for, as its command names it; undefined for another refusal. */
export function askedApproval(hint: unknown) {
  const [, action, payload] = COMMAND.exec(String(hint)) ?? []
  return payload === undefined
    ? undefined
    : v.parse(Asked, { action, payload: JSON.parse(payload) })
}
