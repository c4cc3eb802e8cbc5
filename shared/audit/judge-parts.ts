import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { dayNumber } from '../time.ts'
import { type Difference, foremost } from '../verdict/difference.ts'
import type { Verdict } from '../verdict/verdict-store.ts'
import { orderOf, type Part } from './due-parts.ts'

type Progress = NonNullable<Verdict['progress']>

/** The most differences of an unfinished part that its next run knows. */
const MAX_KEPT = 50

/**
 * Judges the parts of an audit in their order, after what its earlier runs have judged. Without
 * `progress` in the answer all parts are judged. `byPart` has the parts that are judged whole.
 */
export async function judgeParts(
  parts: readonly Part[],
  progress: Progress,
  isOver: () => boolean,
) {
  const { auditId, beganAt, day, done } = progress
  const partsLeft = parts.filter((part) => orderOf(part) > done)
  const begun = progress.part === partsLeft[0]?.key ? progress : undefined
  const { byPart, stopped } = await judgeSome(partsLeft, { begun, isOver })
  const last = partsLeft[byPart.size - 1]
  const next = stopped && {
    auditId,
    beganAt,
    day,
    ...stopped,
    found: foremost(stopped.found, MAX_KEPT),
    done: last ? orderOf(last) : done,
  }
  return { byPart, progress: next }
}

/** Each run reads at least one part. `stopped`: at this part, which is not judged whole. */
async function judgeSome(
  parts: readonly Part[],
  {
    begun,
    isOver = () => false,
    isLate = isOver,
  }: Limits & { readonly begun?: Progress | undefined },
) {
  const byPart = new Map<string, readonly Difference[]>()
  for (const { key, judge } of parts) {
    const before = byPart.size === 0 ? begun : undefined
    if (byPart.size > 0 && isOver()) return { byPart, stopped: { part: key, found: [] } }
    const { differences, state } = await judge(before?.state, isLate)
    const found = [...(before?.found ?? []), ...differences]
    if (state !== undefined) return { byPart, stopped: { part: key, state, found } }
    byPart.set(key, found)
  }
  return { byPart, stopped: undefined }
}

/**
 * The progress of the audit that a message continues, or of a new audit. A progress alone proves
 * nothing, because any function that may write verdicts could skip parts with it: so the message of
 * the run before must name it. Undefined: a newer audit, which continues by its own messages, has
 * replaced the audit of this message.
 */
export function auditUnderWay(
  deps: Pick<Deps, 'now' | 'newId'>,
  { progress }: Pick<Verdict, 'progress'>,
  auditId: string | undefined,
): Progress | undefined {
  if (auditId !== undefined && progress !== undefined)
    return progress.auditId === auditId ? progress : undefined
  const beganAt = deps.now()
  return { auditId: deps.newId(), beganAt, day: dayNumber(beganAt), done: '', found: [] }
}

/**
 * Judges parts in their order, without the progress of an audit. `from`: the part where an earlier
 * call ended. `next`: the first part that this call has not read whole; its `partial` differences
 * are not all of them. `unread`: the part of `from`, if this call had no time for all of it.
 * Another call would end there again, so `next` is the part after it.
 */
export async function judgeRange(parts: readonly Part[], { from, until, ...limits }: Extent = {}) {
  const first = from === undefined ? 0 : placeOf(parts, from)
  const last = until === undefined ? parts.length : placeOf(parts, until)
  const { byPart, stopped } = await judgeSome(parts.slice(first, last), limits)
  const partial = new Map(stopped && [[stopped.part, stopped.found]])
  return stopped && stopped.part === from
    ? { byPart, partial, unread: from, next: parts[first + 1]?.key }
    : { byPart, partial, next: stopped?.part ?? until }
}

export type Extent = Limits & {
  readonly from?: string | undefined
  /** Ends before this part. */
  readonly until?: string | undefined
}

type Limits = {
  /** No further part begins. */
  readonly isOver?: () => boolean
  /** The part that is read ends too; by default with `isOver`. */
  readonly isLate?: () => boolean
}

function placeOf(parts: readonly Part[], name: string) {
  const place = parts.findIndex(({ key }) => key === name)
  if (place >= 0) return place
  throw invalid(
    `there is no part ${name}`,
    { from: ['must be next of an earlier answer'] },
    'Begin again without from.',
  )
}
