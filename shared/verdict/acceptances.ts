import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import type { TableDeps } from '../deps.ts'
import { ifValid } from '../if-valid.ts'
import { ApprovalSchema, approvalIdOf, approvalSubject } from '../operator/approval-store.ts'
import { type AuditRecord, readAuditRecords } from '../operator/audit-record-store.ts'
import { approvalKey } from '../table/keys.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { type Difference, DifferenceSchema, isSame, withoutClient } from './difference.ts'

/** `since`: when an audit found the difference first. */
export type DatedDifference = Difference & { readonly since: Timestamp }

/** What the record of an action says of the approval that it has used up. */
export const UsingSchema = v.object({
  approved: v.object({ id: v.string(), at: TimestampSchema, used_at: TimestampSchema }),
})

const AcceptedSchema = v.object({ ...DifferenceSchema.entries, ...UsingSchema.entries })

/**
 * An acceptance is an audit record of this subject. Its `after` is the difference, with the
 * approval that it has used up.
 */
export function acceptedSubject(owner: string): string {
  return `accepted:${owner}`
}

/** The differences of a client or of the gateway that finance has not accepted. */
export async function unacceptedDifferences<Found extends DatedDifference>(
  deps: TableDeps,
  owner: string,
  standing: readonly Found[],
): Promise<readonly Found[]> {
  const acceptances = await readAcceptances(deps, owner, standing)
  // An acceptance counts for the same gap of a difference that stood before it.
  return standing.filter(
    (one) => !acceptances.some((other) => isSame(other, one) && one.since <= other.at),
  )
}

const SIDE_BY_SIDE = 16

/**
 * The acceptances of standing differences whose exact figures a second person has approved. Many
 * functions may write records, and `approve` alone writes approvals, so an acceptance counts from
 * the use that is on the row of its approval. A broken chain of acceptances is a difference of its
 * own.
 */
async function readAcceptances(deps: TableDeps, owner: string, standing: readonly Difference[]) {
  if (standing.length === 0) return []
  const { records } = await readAuditRecords(deps, acceptedSubject(owner))
  const named = records.filter(({ after }) => {
    const difference = ifValid(DifferenceSchema, after)
    return difference && standing.some((one) => isSame(difference, one))
  })
  const read = await mapInChunks(named, SIDE_BY_SIDE, async (record) => {
    const accepted = await findAccepted(deps, owner, record)
    if (accepted === undefined) return []
    const { approved, ...difference } = accepted
    const approval = ifValid(ApprovalSchema, await deps.table.get(approvalKey(approved.id)))
    const isUsed = approval?.at === approved.at && approval.usedAt === approved.used_at
    return isUsed ? [{ ...difference, at: approved.used_at }] : []
  })
  return read.flat()
}

/** Undefined unless the record names an approval of its figures that has a record of its own. */
export async function findAccepted(deps: TableDeps, owner: string, { after }: AuditRecord) {
  const accepted = ifValid(AcceptedSchema, after)
  if (accepted === undefined) return undefined
  const { approved, ...difference } = accepted
  const id = approvalIdOf(acceptanceOf(owner, difference))
  const { records } = await readAuditRecords(deps, approvalSubject(id))
  const isApproved = records.some((record) => record.after?.['at'] === approved.at)
  return approved.id === id && isApproved ? accepted : undefined
}

/** What a second person approves. */
export function acceptanceOf(owner: string, difference: Difference) {
  const client_id = owner === GATEWAY_OWNER ? null : owner
  return {
    action: 'accept-difference',
    payload: { client_id, ...withoutClient(difference) },
  } as const
}

/** Differences that were found now: those that stand already keep their time. */
export function withSince<Found extends Difference>(
  found: readonly Found[],
  standing: readonly DatedDifference[],
  now: Timestamp,
) {
  return found.map((difference) => ({
    ...difference,
    since: standing.find((one) => isSame(one, difference))?.since ?? now,
  }))
}
