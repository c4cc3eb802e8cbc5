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

/** The most differences that one item keeps. */
const MOST_KEPT = 100

export const isExactly = (a: Difference, b: Difference): boolean =>
  a.what === b.what && a.id === b.id && a.expected === b.expected && a.found === b.found

/** Standing differences that are not accepted. An acceptance ends when the figures change. */
export const notAccepted = ({
  standing,
  accepted,
}: Pick<ClientVerdict, 'standing' | 'accepted'>): readonly Standing[] =>
  standing.filter((difference) => !accepted.some((one) => isExactly(one, difference)))

export type Found = ReadonlyMap<string, readonly Difference[]>

const isOver = (standing: readonly Standing[], accepted: readonly Accepted[]): readonly Accepted[] =>
  accepted.filter((one) => standing.some((difference) => isExactly(one, difference)))

/** The verdict with the findings of the judged parts. Differences that are gone no longer stand. */
const withFound = (before: ClientVerdict, found: Found): ClientVerdict => {
  const kept = before.standing.filter(({ part }) => !found.has(part))
  const added = [...found].flatMap(([part, differences]) => differences.map((difference) => ({ ...difference, part })))
  const standing = [...kept, ...added].slice(0, MOST_KEPT)
  return { ...before, standing, accepted: [...isOver(standing, before.accepted)] }
}

const TRIES = 5

/**
 * Writes an audit's findings and progress to a client's verdict. Answers the standing differences that are not
 * accepted. Throws when the verdict kept changing.
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
    // An unchanged verdict is not written, because a payout may depend on its version.
    if (noted === undefined && isDeepStrictEqual(after, before)) return notAccepted(before)
    const { applied } = await deps.table.write(changeClientVerdict(clientId, before, after))
    if (applied) return notAccepted(after)
  }
  throw new Error('the verdict of a client kept changing')
}

/** Reports standing differences to operators and to the metric of an alarm. */
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
