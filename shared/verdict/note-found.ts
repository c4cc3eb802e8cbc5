import { isDeepStrictEqual } from 'node:util'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import {
  type Accepted,
  type ClientVerdict,
  changeClientVerdict,
  readClientVerdict,
  type Standing,
} from './client-verdict-store.ts'
import type { Difference } from './difference.ts'

type NoteDeps = Pick<Deps, 'table'>

/** What one item keeps: who has more knows it without a number. */
const MOST_KEPT = 100

export const isExactly = (a: Difference, b: Difference): boolean =>
  a.what === b.what && a.id === b.id && a.expected === b.expected && a.found === b.found

/** What stands on a client and is not accepted. An acceptance is void once the figures have changed. */
export const notAccepted = ({
  standing,
  accepted,
}: Pick<ClientVerdict, 'standing' | 'accepted'>): readonly Standing[] =>
  standing.filter((difference) => !accepted.some((one) => isExactly(one, difference)))

export type Found = ReadonlyMap<string, readonly Difference[]>

const isOver = (standing: readonly Standing[], accepted: readonly Accepted[]): readonly Accepted[] =>
  accepted.filter((one) => standing.some((difference) => isExactly(one, difference)))

/** The verdict with what was found in the parts that were judged: what is not found any more no longer stands. */
const withFound = (before: ClientVerdict, found: Found): ClientVerdict => {
  const kept = before.standing.filter(({ part }) => !found.has(part))
  const added = [...found].flatMap(([part, differences]) => differences.map((difference) => ({ ...difference, part })))
  const standing = [...kept, ...added].slice(0, MOST_KEPT)
  return { ...before, standing, accepted: [...isOver(standing, before.accepted)] }
}

const TRIES = 5

/**
 * Writes what an audit found onto a client's verdict, with how far the audit is. Answers what stands and is not accepted.
 * Throws when the verdict kept changing.
 */
export const noteFound = async (
  deps: NoteDeps,
  clientId: ClientId,
  found: Found,
  noted: Partial<Omit<ClientVerdict, 'version' | 'standing' | 'accepted'>> | undefined,
): Promise<readonly Standing[]> => {
  for (let tried = 0; tried < TRIES; tried++) {
    const before = await readClientVerdict(deps, clientId)
    const after = { ...withFound(before, found), ...noted }
    // A verdict without news is not written: a payout may stand on it.
    if (noted === undefined && isDeepStrictEqual(after, before)) return notAccepted(before)
    const { applied } = await deps.table.write(changeClientVerdict(clientId, before, after))
    if (applied) return notAccepted(after)
  }
  throw new Error('the verdict of a client kept changing')
}

/** Tells the operators, and the metric that an alarm watches, what stands on a client. */
export const tellStanding = async (
  deps: Pick<Deps, 'alerts' | 'log'>,
  subject: string,
  standing: readonly Difference[],
): Promise<void> => {
  const [first] = standing
  if (first === undefined) return
  await deps.alerts.publish({
    kind: 'audit.imbalance',
    subject,
    message:
      `The books of ${subject} do not balance: ${standing.length} differences, the first is ${first.what} of ` +
      `${first.id}. Pay out nothing of it; audit-ledger lists them all.`,
  })
  deps.log.error('audit.imbalance', { client_id: subject, differences: standing.length })
}
