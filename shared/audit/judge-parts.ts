import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { dayNumber } from '../time.ts'
import type { Difference } from '../verdict/difference.ts'
import type { Verdict } from '../verdict/verdict-store.ts'
import { orderOf, type Part } from './history.ts'

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
  const { auditId, beganAt, day } = progress
  let { done } = progress
  const partsLeft = parts.filter((part) => orderOf(part) > done)
  const isBegun = progress.part === partsLeft[0]?.key
  let [state, found]: readonly [unknown, readonly Difference[]] = isBegun
    ? [progress.state, progress.found]
    : [undefined, []]
  const byPart = new Map<string, readonly Difference[]>()
  const stopped = (left: Pick<Progress, 'part' | 'state' | 'found'>) => ({
    byPart,
    progress: { auditId, beganAt, day, done, ...left },
  })
  for (const part of partsLeft) {
    const { key, judge } = part
    const { differences, state: next } = await judge(state, isOver)
    const all = [...found, ...differences]
    if (next !== undefined)
      return stopped({ part: key, state: next, found: all.slice(0, MAX_KEPT) })
    byPart.set(key, all)
    done = orderOf(part)
    state = undefined
    found = []
    if (isOver() && part !== partsLeft.at(-1)) return stopped({ found: [] })
  }
  return { byPart, progress: undefined }
}

/** Judges parts that take one run, in their order. */
export async function judgeAll(parts: readonly Part[], isOver: () => boolean) {
  const byPart = new Map<string, readonly Difference[]>()
  for (const { key, judge } of parts) byPart.set(key, (await judge(undefined, isOver)).differences)
  return byPart
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
 * Judges parts for an operator, newest first, because a restore tears the newest rows. `from`: the
 * part where an earlier call ended. `next`: the first part that this call has not read whole; its
 * `partial` differences are not all of them. Each call reads at least one part.
 */
export async function judgeNewest(
  parts: readonly Part[],
  { from, until, isOver = isNever, isLate = isNever }: Extent = {},
) {
  const ordered = parts.toSorted(
    (a, b) => dayOf(b) - dayOf(a) || (orderOf(a) < orderOf(b) ? 1 : -1),
  )
  const first = from === undefined ? 0 : placeOf(ordered, from)
  const last = until === undefined ? ordered.length : placeOf(ordered, until)
  const byPart = new Map<string, readonly Difference[]>()
  for (const { key, judge } of ordered.slice(first, last)) {
    if (byPart.size > 0 && isOver()) return { byPart, partial: [], next: key }
    const { differences, state } = await judge(undefined, isLate)
    if (state !== undefined) return { byPart, partial: differences, next: key }
    byPart.set(key, differences)
  }
  return { byPart, partial: [], next: until }
}

export type Extent = {
  readonly from?: string | undefined
  /** Ends before this part. */
  readonly until?: string | undefined
  /** No further part begins. */
  readonly isOver?: () => boolean
  /** The part that is read ends too. */
  readonly isLate?: () => boolean
}

function dayOf({ day = Number.POSITIVE_INFINITY }: Part) {
  return day
}

function isNever() {
  return false
}

function placeOf(parts: readonly Part[], name: string) {
  const place = parts.findIndex(({ key }) => key === name)
  if (place >= 0) return place
  throw invalid(
    `there is no part ${name}`,
    { from: ['must be next of an earlier answer'] },
    'Repeat the call with next as it was answered, or begin again without from.',
  )
}
