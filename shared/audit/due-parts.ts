import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { InvariantError } from '../errors.ts'
import { confirmedDifferences, type Difference } from '../verdict/difference.ts'
import type { Verdict } from '../verdict/verdict-store.ts'

export type AuditDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'monotonicMs'>

/** Parts are judged separately. A difference stands under the key of its part. */
export type Part = {
  readonly key: string
  /** The last day of the rows that it judges, in days since 1970; absent for all days. */
  readonly day?: number
  /** With a `state` in its answer the part is not whole: another call continues there. */
  readonly judge: (
    state: unknown,
    isOver: () => boolean,
  ) => Promise<{ readonly differences: readonly Difference[]; readonly state?: unknown }>
  /** What this part judges for a payout: the settlement's id, and the digest of its sums. */
  readonly longSettlement?: readonly [settlementId: string, digest: string]
}

export const SUSPENSE = 'suspense'
/** Of a client: the gateway's audit judges it too, and finds the same. */
export const REGISTERED = 'registered'

export type DuePart = readonly [isPartDue: boolean, part: Part]

/** The due parts and all parts in which a difference stands, in the order of an audit. */
export function dueParts(parts: readonly DuePart[], standing: Verdict['standing']) {
  const wanted = new Set(standing.map(({ part }) => part))
  return parts
    .flatMap(([isPartDue, part]) => (isPartDue || wanted.has(part.key) ? [part] : []))
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
    .map(catchBadRows)
}

/**
 * A long settlement that waits for a payout comes first. Then newest first, because a restore tears
 * the newest rows.
 */
export function orderOf({ key, day, longSettlement }: Part) {
  return longSettlement ? ` ${key}` : `${day === undefined ? 0 : 99_999 - day} ${key}`
}

const UNREADABLE_PART = 'part.rows'

/**
 * A part whose rows make its judgement impossible is a difference, so that it stops no other part,
 * client or run.
 */
export function catchBadRows(part: Part): Part {
  return {
    ...part,
    judge: async (state, isOver) => {
      try {
        return await part.judge(state, isOver)
      } catch (error) {
        if (!isOfRows(error)) throw error
        const found = error instanceof InvariantError ? error.message : 'unreadable'
        const difference = { what: UNREADABLE_PART, id: part.key, expected: 'readable', found }
        return { differences: [difference] }
      }
    },
  }
}

/** The same rows would throw again, unlike an error of the table. */
function isOfRows(error: unknown) {
  return error instanceof InvariantError || error instanceof RangeError || v.isValiError(error)
}

export function confirmedPart(
  deps: AuditDeps,
  key: string,
  judge: Parameters<typeof confirmedDifferences>[1],
) {
  return { key, judge: async () => ({ differences: await confirmedDifferences(deps, judge) }) }
}

/** All of the last hundred days is read in thirty days, older history in 360. */
export const CYCLE_DAYS = 30
const OLD_CYCLE_DAYS = 360
const RECENT_DAYS = 100

/** All days are due without an earlier share, or with one that is not in the past. */
export function dueOn(today: number, historyDay: number | undefined): (day: number) => boolean {
  const missed =
    historyDay === undefined || historyDay > today ? OLD_CYCLE_DAYS : today - historyDay
  return (day) => {
    const age = today - day
    const recentAge = Math.min(age, RECENT_DAYS)
    return (
      age - Math.max(ageAtCycleStart(recentAge, CYCLE_DAYS), ageAtCycleStart(age, OLD_CYCLE_DAYS)) <
      missed
    )
  }
}

/** The age of a day, in days, when its present cycle began. */
function ageAtCycleStart(age: number, cycle: number) {
  return Math.floor(age / cycle) * cycle
}

/** The newest day, up to today, on which the share of a slot is due. */
export function dayOfSlot(today: number, slot: number) {
  return today - ((today - slot) % CYCLE_DAYS)
}
