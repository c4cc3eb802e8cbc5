import type { TableDeps } from '../deps.ts'
import { ifValid } from '../if-valid.ts'
import { approvalIdOf } from '../operator/approval-store.ts'
import { readAuditRecords } from '../operator/audit-record-store.ts'
import { approvalKey } from '../table/keys.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import type { Timestamp } from '../time.ts'
import { type Difference, DifferenceSchema, isSame } from './difference.ts'

/** `since`: when an audit found the difference first. */
export type Standing = Difference & { readonly since: Timestamp }

type Acceptance = Difference & { readonly at: Timestamp }

/** An acceptance is an audit record of this subject. Its `after` is the difference. */
export function acceptedSubject(owner: string): string {
  return `accepted:${owner}`
}

/** The differences of a client or of the gateway that finance has not accepted. */
export async function unacceptedDifferences<Found extends Standing>(
  deps: TableDeps,
  owner: string,
  standing: readonly Found[],
): Promise<readonly Found[]> {
  return standing.length === 0
    ? standing
    : withoutAccepted(standing, await readAcceptances(deps, owner))
}

/**
 * The acceptances whose exact figures a second person has approved: many functions may write
 * records, and `approve` alone writes approvals. A broken chain of them is a difference of its own.
 */
export async function readAcceptances(
  deps: TableDeps,
  owner: string,
): Promise<readonly Acceptance[]> {
  const { records } = await readAuditRecords(deps, acceptedSubject(owner))
  const acceptances = records.flatMap(({ at, after }) => {
    const difference = ifValid(DifferenceSchema, after)
    return difference ? [{ ...difference, at }] : []
  })
  const keys = acceptances.map(({ what, id, expected, found }) =>
    approvalKey(approvalIdOf(acceptanceOf(owner, { what, id, expected, found }))),
  )
  const approvals = await deps.table.getMany(keys)
  return acceptances.filter((_, at) => approvals[at] !== undefined)
}

/** What a second person approves. */
export function acceptanceOf(owner: string, difference: Difference) {
  const client_id = owner === GATEWAY_OWNER ? null : owner
  return { action: 'accept-difference', payload: { client_id, ...difference } } as const
}

/** An acceptance counts for the same gap of a difference that stood before it. */
export function withoutAccepted<Found extends Standing>(
  standing: readonly Found[],
  acceptances: readonly Acceptance[],
): readonly Found[] {
  return standing.filter(
    (one) =>
      !acceptances.some((acceptance) => isSame(acceptance, one) && one.since <= acceptance.at),
  )
}

/** Differences that were found now: those that stand already keep their time. */
export function withSince<Found extends Difference>(
  found: readonly Found[],
  standing: readonly Standing[],
  now: Timestamp,
) {
  return found.map((difference) => ({
    ...difference,
    since: standing.find((one) => isSame(one, difference))?.since ?? now,
  }))
}
