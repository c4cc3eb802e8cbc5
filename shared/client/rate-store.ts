import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { rateKey } from '../table/keys.ts'
import { all, below, equals, exists, isNew, type Step, update } from '../table/step.ts'

const CounterSchema = v.object({
  second: v.number(),
  points: v.number(),
  /** The points that were left a second earlier. */
  before: v.optional(v.number(), 0),
})

/** Debt is included. */
export type Counter = v.InferOutput<typeof CounterSchema>

/** The limit pays off as many points each second. */
export function pointsIn(
  { second, points }: Pick<Counter, 'second' | 'points'>,
  now: number,
  limit: number,
): number {
  return Math.max(0, points - limit * Math.max(0, now - second))
}

export type CounterName = { readonly clientId: ClientId; readonly kind: 'requests' | 'creates' }

type CountRequest = {
  readonly second: number
  readonly points: number
  readonly limit: number
  /** Refused when so many points are counted already; a debt is always counted. */
  readonly most?: number
}

/** `contended`: other writers were first, and nothing is counted. */
export type CountOutcome = {
  readonly kind: 'counted' | 'refused' | 'contended'
  readonly counter: Counter | undefined
}

/** The known state may be old. From `most` points on nothing is written. */
export async function countPoints(
  deps: TableDeps,
  name: CounterName,
  request: CountRequest,
  lastCounter: Counter | undefined,
): Promise<CountOutcome> {
  const { second, limit, most = Number.POSITIVE_INFINITY } = request
  let counter = lastCounter
  let known: typeof isNew = isNew
  for (let tried = 0; tried < 4; tried++) {
    if ((counter ? pointsIn(counter, second, limit) : 0) >= most)
      return { kind: 'refused', counter }
    const { applied, item } = await deps.table.write(addPoints(name, counter, request, known))
    // An unreadable row would fail all requests, so it is written anew.
    counter = ifValid(CounterSchema, item)
    known = item ? exists : isNew
    if (applied) return { kind: 'counted', counter }
  }
  return { kind: 'contended', counter }
}

/**
 * Within one second, writers only add points. The first writer of a later second pays off what the
 * limit allows. A writer with an outdated counter is refused, and reads the present one. A slow
 * clock pays nothing off; it can lose points, but never invent any.
 */
function addPoints(
  { clientId, kind }: CounterName,
  lastCounter: Counter | undefined,
  { second, points, limit, most }: CountRequest,
  known: typeof isNew,
): Step {
  const key = rateKey(clientId, kind)
  // An hour is long after the last debt is paid.
  const ttl = second + 3_600
  if (!lastCounter) return update(key, { set: { second, points, ttl }, remove: ['before'] }, known)
  const isSameSecond = equals('second', lastCounter.second)
  const secondsAhead = lastCounter.second - second
  // Clocks differ by ten seconds at most: a writer joins the second of a writer that is ahead.
  if (secondsAhead >= 0 && secondsAhead <= 10) {
    const isWithin = most === undefined ? isSameSecond : all(isSameSecond, below('points', most))
    return update(key, { add: { points }, set: { ttl } }, isWithin)
  }
  const before = pointsIn(lastCounter, second - 1, limit)
  const set = { second, points: pointsIn(lastCounter, second, limit) + points, before, ttl }
  return update(key, { set }, all(isSameSecond, equals('points', lastCounter.points)))
}
