import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { verdictKey } from '../table/keys.ts'
import { equals, guard, isNew, put, type Step } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { readAcceptances, withoutAccepted, withSince } from './acceptances.ts'
import { type Difference, DifferenceSchema } from './difference.ts'

/** The result of the audits of a client or of the gateway, and the progress of today's audit. */
export const ClientVerdictSchema = v.object({
  version: v.number(),
  /** The differences that stand, each with the part of the books in which it was found. */
  standing: v.array(
    v.object({ ...DifferenceSchema.entries, part: v.string(), since: TimestampSchema }),
  ),
  /** Parts whose last audit was inconclusive: the next day's audit judges them again. */
  unclear: v.array(v.string()),
  /** The last day whose slices were audited, in days since 1970. */
  auditedDay: v.optional(v.number()),
  progress: v.optional(v.object({ day: v.number(), done: v.string() })),
  /** Since when the client's balance is negative, and when operators were last told. */
  owesSince: v.optional(TimestampSchema),
  owesToldAt: v.optional(TimestampSchema),
})
export type ClientVerdict = v.InferOutput<typeof ClientVerdictSchema>

const NO_VERDICT: ClientVerdict = { version: 0, standing: [], unclear: [] }

/** Empty before the first audit of the client, or of the gateway. */
export async function readClientVerdict(deps: TableDeps, owner: string): Promise<ClientVerdict> {
  const stored = await deps.table.get(verdictKey(owner))
  return v.parse(v.optional(ClientVerdictSchema), stored) ?? NO_VERDICT
}

export function requireSameClientVerdict(clientId: ClientId, read: ClientVerdict): Step {
  return guard(verdictKey(clientId), isAsRead(read))
}

function isAsRead({ version }: ClientVerdict) {
  return version === 0 ? isNew : equals('version', version)
}

type Standing = ClientVerdict['standing'][number]

type Findings = ReadonlyMap<string, readonly Difference[]>

const TRIES = 5

/**
 * Answers the standing differences that are not accepted. Throws when the verdict kept changing.
 */
export async function recordFindings(
  deps: StoreDeps,
  owner: string,
  findings: Findings,
  progress: Partial<Omit<ClientVerdict, 'version' | 'standing'>> | undefined,
) {
  for (let tried = 0; tried < TRIES; tried++) {
    const before = await readClientVerdict(deps, owner)
    const standing = standingAfter(before, findings, deps.now())
    const accepted = standing.length === 0 ? [] : await readAcceptances(deps, owner)
    const open = withoutAccepted(standing, accepted)
    const dropped = new Set(open).difference(new Set(mostImportant(open)))
    const isKept = (one: Standing) => !dropped.has(one)
    const after = { ...before, standing: standing.filter(isKept), ...progress }
    // An unchanged verdict is not written, because a payout may depend on its version.
    if (progress === undefined && isDeepStrictEqual(after, before)) return open.filter(isKept)
    const { applied } = await deps.table.write(changeClientVerdict(owner, before, after))
    if (applied) return open.filter(isKept)
  }
  throw new Error('the verdict of a client kept changing')
}

/** Differences of the judged parts that are gone no longer stand. */
function standingAfter({ standing }: ClientVerdict, findings: Findings, now: Timestamp) {
  const kept = standing.filter(({ part }) => !findings.has(part))
  const added = [...findings].flatMap(([part, differences]) =>
    withSince(differences, standing, now).map((difference) => ({ ...difference, part })),
  )
  return [...kept, ...added]
}

/** Refused when the verdict has changed after the read. */
function changeClientVerdict(owner: string, before: ClientVerdict, after: ClientVerdict): Step {
  return put(verdictKey(owner), { ...after, version: before.version + 1 }, isAsRead(before))
}

/** The most differences that one item keeps, besides accepted differences. */
const MAX_KEPT = 100

/** Each part keeps one difference, because only parts with differences are judged daily. */
function mostImportant(open: readonly Standing[]): readonly Standing[] {
  const firsts = [...Map.groupBy(open, ({ part }) => part).values()].flatMap(
    ([first]) => first ?? [],
  )
  return [...new Set([...firsts, ...open])].slice(0, MAX_KEPT)
}

/** Reports standing differences to operators and to the metric of an alarm. */
export async function alertDifferences(
  deps: Pick<Deps, 'alerts' | 'log'>,
  subject: string,
  standing: readonly Difference[],
): Promise<void> {
  const [first] = standing
  if (first === undefined) return
  deps.log.error('audit.imbalance', { client_id: subject, differences: standing.length })
  await deps.alerts.publish({
    kind: 'audit.imbalance',
    subject,
    message:
      `The books of ${subject} do not balance (differences: ${standing.length}). The first is ${first.what} of ` +
      `${first.id}. Pay out nothing to a client that is named. audit-ledger lists the differences: with --client_id those of a client, without it those of the gateway.`,
  })
}
