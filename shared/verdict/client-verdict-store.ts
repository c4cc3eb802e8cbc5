import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { Deps, TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { verdictKey } from '../table/keys.ts'
import { equals, guard, isNew, put, type Step } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'
import { type Difference, DifferenceSchema, isExactly } from './difference.ts'

/** The result of a client's audits, and the progress of today's. */
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
  /** Since when its balance is negative, and when operators were last told. */
  owesSince: v.optional(TimestampSchema),
  owesToldAt: v.optional(TimestampSchema),
})
export type ClientVerdict = v.InferOutput<typeof ClientVerdictSchema>

const NO_VERDICT: ClientVerdict = { version: 0, standing: [], accepted: [], unclear: [] }

/** A client's verdict; empty before its first audit. */
export async function readClientVerdict(
  deps: TableDeps,
  clientId: ClientId,
): Promise<ClientVerdict> {
  return (
    v.parse(v.optional(ClientVerdictSchema), await deps.table.get(verdictKey(clientId))) ??
    NO_VERDICT
  )
}

/** Writes a client's verdict. Refused when it has changed since it was read. */
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

/** Requires that a client's verdict is unchanged since it was read. */
export function clientVerdictStands(clientId: ClientId, read: ClientVerdict): Step {
  return guard(verdictKey(clientId), isAsRead(read))
}

/** Standing differences that are not accepted. An acceptance ends when the figures change. */
export function notAccepted<One extends Difference>({
  standing,
  accepted,
}: Pick<ClientVerdict, 'accepted'> & { readonly standing: readonly One[] }) {
  return standing.filter((difference) => !accepted.some((one) => isExactly(one, difference)))
}

type Found = ReadonlyMap<string, readonly Difference[]>

const TRIES = 5

/** Writes an audit's findings and progress. Answers what stands unaccepted. Throws when the verdict kept changing. */
export async function noteFound(
  deps: TableDeps,
  clientId: ClientId,
  found: Found,
  noted: Partial<Omit<ClientVerdict, 'version' | 'standing' | 'accepted'>> | undefined,
) {
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

/** The most differences that one item keeps, besides accepted ones. */
const MAX_KEPT = 100

/**
 * The verdict with the findings of the judged parts. Differences that are gone no longer stand. Accepted ones hide no
 * other one, and each part keeps one, because only parts that stand are judged daily.
 */
function withFound(before: ClientVerdict, found: Found): ClientVerdict {
  const kept = before.standing.filter(({ part }) => !found.has(part))
  const added = [...found].flatMap(([part, differences]) =>
    differences.map((difference) => ({ ...difference, part })),
  )
  const all = [...kept, ...added]
  const open = notAccepted({ standing: all, accepted: before.accepted })
  const firsts = [...Map.groupBy(open, ({ part }) => part).values()].flatMap(
    ([first]) => first ?? [],
  )
  const mostImportant = [...new Set([...firsts, ...open])].slice(0, MAX_KEPT)
  const left = new Set(open).difference(new Set(mostImportant))
  const standing = all.filter((one) => !left.has(one))
  const accepted = before.accepted.filter((one) =>
    standing.some((difference) => isExactly(one, difference)),
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
