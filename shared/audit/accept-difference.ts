import { requireClient } from '../client/client-store.ts'
import { invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { approvalWasChanged, requireApproval } from '../operator/approval-store.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { acceptanceOf, acceptedSubject, unacceptedDifferences } from '../verdict/acceptances.ts'
import { type Difference, isIdentical } from '../verdict/difference.ts'
import { readVerdict } from '../verdict/verdict-store.ts'

type AcceptInput = Readonly<{
  /** Absent: a difference of the gateway. */
  clientId?: ClientId | undefined
  difference: Difference
  operator: string
  notes: string
}>

/**
 * Accepts a difference that finance has explained: it no longer refuses payouts (design section 4,
 * "Audit"). The acceptance is an audit record. It ends when the difference is repaired, or its gap
 * changes. It uses up its approval; a repeat writes nothing. Throws 404 for an unknown client, and
 * 422 when no such difference stands, or without the approval.
 */
export async function acceptDifference(
  deps: RecordDeps,
  { clientId, difference, operator, notes }: AcceptInput,
): Promise<Difference> {
  if (clientId !== undefined) await requireClient(deps, clientId)
  const owner = clientId ?? GATEWAY_OWNER
  const { standing } = await readVerdict(deps, owner)
  const named = standing.filter((one) => isIdentical(one, difference))
  if (named.length === 0) {
    throw invalid(
      'there is no such open difference',
      { id: ['what, id, expected and found must be exactly as the last audit found them'] },
      'Run audit-ledger and repeat with the figures exactly as it shows them.',
    )
  }
  if ((await unacceptedDifferences(deps, owner, named)).length > 0) {
    const approval = await requireApproval(deps, acceptanceOf(owner, difference))
    const after = { ...difference, notes, approved: approval.shown }
    const subject = acceptedSubject(owner)
    const outcome = await recordChange(
      deps,
      { subject, clientId: owner, operator, action: 'accept-difference', after },
      { approval: approval.step },
    )
    if (!outcome.applied) throw approvalWasChanged()
  }
  return difference
}
