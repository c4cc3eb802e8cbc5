import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { Deps, TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { verdictKey } from '../table/keys.ts'
import { equals, guard, isNew, put, type Step } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'
import { type Difference, DifferenceSchema, isIdentical } from './difference.ts'

/** The result of a client's audits, and the progress of today's audit. */
export const ClientVerdictSchema = v.object({
  version: v.number(),
  /** The differences that stand, each with the part of the books in which it was found. */
  standing: v.array(v.object({ ...DifferenceSchema.entries, part: v.string() })),
  accepted: v.array(
    v.object({
      ...DifferenceSchema.entries,
      operator: v.string(),
      notes: v.string(),
      at: TimestampSchema,
    }),
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

const NO_VERDICT: ClientVerdict = { version: 0, standing: [], accepted: [], unclear: [] }

/** Empty before the client's first audit. */
export async function readClientVerdict(
  deps: TableDeps,
  clientId: ClientId,
): Promise<ClientVerdict> {
  return (
    v.parse(v.optional(ClientVerdictSchema), await deps.table.get(verdictKey(clientId))) ??
    NO_VERDICT
  )
}

/** Refused when the verdict has changed after the read. */
export function changeClientVerdict(
  clientId: ClientId,
  before: ClientVerdict,
  after: ClientVerdict,
): Step {
  return put(verdictKey(clientId), { ...after, version: before.version + 1 }, isAsRead(before))
}

function isAsRead({ version }: ClientVerdict) {
  return version === 0 ? isNew : equals('version', version)
}

export function requireSameClientVerdict(clientId: ClientId, read: ClientVerdict): Step {
  return guard(verdictKey(clientId), isAsRead(read))
}

/** An acceptance ends when the figures of the difference change. */
export function unacceptedDifferences<Found extends Difference>({
  standing,
  accepted,
}: Pick<ClientVerdict, 'accepted'> & { readonly standing: readonly Found[] }) {
  return standing.filter(
    (difference) => !accepted.some((acceptance) => isIdentical(acceptance, difference)),
  )
}

type Findings = ReadonlyMap<string, readonly Difference[]>

const TRIES = 5

/**
 * Answers the standing differences that are not accepted. Throws when the verdict kept changing.
 */
export async function recordFindings(
  deps: TableDeps,
  clientId: ClientId,
  findings: Findings,
  progress: Partial<Omit<ClientVerdict, 'version' | 'standing' | 'accepted'>> | undefined,
) {
  for (let tried = 0; tried < TRIES; tried++) {
    const before = await readClientVerdict(deps, clientId)
    const after = { ...withFindings(before, findings), ...progress }
    // An unchanged verdict is not written, because a payout may depend on its version.
    if (progress === undefined && isDeepStrictEqual(after, before))
      return unacceptedDifferences(before)
    const { applied } = await deps.table.write(changeClientVerdict(clientId, before, after))
    if (applied) return unacceptedDifferences(after)
  }
  throw new Error('the verdict of a client kept changing')
}

/** The most differences that one item keeps, besides accepted differences. */
const MAX_KEPT = 100

/**
 * The verdict with the findings of the judged parts. Differences that are gone no longer stand.
 * Accepted differences take no place from others. Each part keeps one difference, because only
 * parts with differences are judged daily.
 */
function withFindings(before: ClientVerdict, findings: Findings): ClientVerdict {
  const kept = before.standing.filter(({ part }) => !findings.has(part))
  const added = [...findings].flatMap(([part, differences]) =>
    differences.map((difference) => ({ ...difference, part })),
  )
  const all = [...kept, ...added]
  const open = unacceptedDifferences({ standing: all, accepted: before.accepted })
  const firsts = [...Map.groupBy(open, ({ part }) => part).values()].flatMap(
    ([first]) => first ?? [],
  )
  const mostImportant = [...new Set([...firsts, ...open])].slice(0, MAX_KEPT)
  const dropped = new Set(open).difference(new Set(mostImportant))
  const standing = all.filter((difference) => !dropped.has(difference))
  const accepted = before.accepted.filter((acceptance) =>
    standing.some((difference) => isIdentical(acceptance, difference)),
  )
  return { ...before, standing, accepted }
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
      `${first.id}. Pay out nothing to it. Run audit-ledger --client_id to list the differences of a client.`,
  })
}
