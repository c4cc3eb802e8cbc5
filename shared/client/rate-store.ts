import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { rateKey } from '../table/keys.ts'
import { all, below, equals, isNew, type Step, update } from '../table/step.ts'

const CounterSchema = v.object({
  second: v.number(),
  points: v.number(),
  /** The points of a second before. */
  before: v.optional(v.number(), 0),
})

/** Points of one client, debt included, in one second. */
export type Counter = v.InferOutput<typeof CounterSchema>

/** The points that are left in a later second: the limit pays off as many each second. */
export function pointsIn(
  { second, points }: Pick<Counter, 'second' | 'points'>,
  now: number,
  limit: number,
): number {
  return Math.max(0, points - limit * Math.max(0, now - second))
}

/** Which counter of a client: of all its requests, or of its creates. */
export type CounterName = { readonly clientId: ClientId; readonly of: 'requests' | 'creates' }

type Counting = {
  readonly second: number
  readonly points: number
  readonly limit: number
  /** Refused when so many are counted already; a debt is always counted. */
  readonly most?: number
}

/** `contended`: other writers were first, and nothing is counted. */
export type Counted = {
  readonly is: 'counted' | 'refused' | 'contended'
  readonly counter: Counter | undefined
}

/** Adds points to a client's counter, whose known state may be old. From `most` points on nothing is written. */
export async function countPoints(
  deps: TableDeps,
  name: CounterName,
  counting: Counting,
  known: Counter | undefined,
): Promise<Counted> {
  const { second, limit, most = Number.POSITIVE_INFINITY } = counting
  let counter = known
  for (let tried = 0; tried < 4; tried++) {
    if ((counter ? pointsIn(counter, second, limit) : 0) >= most) return { is: 'refused', counter }
    const { applied, item } = await deps.table.write(stepFor(name, counter, counting))
    counter = item && v.parse(CounterSchema, item)
    if (applied) return { is: 'counted', counter }
  }
  return { is: 'contended', counter }
}

/**
 * Within one second writers only add. The first writer of a later second pays off what the limit allows; one that knows
 * less is refused and sees the counter. A writer whose clock is far behind pays nothing off. It can forget points, but
 * never add any.
 */
function stepFor(
  { clientId, of }: CounterName,
  known: Counter | undefined,
  { second, points, limit, most }: Counting,
): Step {
  const key = rateKey(clientId, of)
  // An hour is long after the last debt is paid.
  const ttl = second + 3_600
  if (!known) return update(key, { set: { second, points, ttl } }, isNew)
  const isKnownSecond = equals('second', known.second)
  const secondsAhead = known.second - second
  // Clocks differ, so a writer joins the second of a writer that is a little ahead.
  if (secondsAhead >= 0 && secondsAhead <= 2) {
    const isWithin = most === undefined ? isKnownSecond : all(isKnownSecond, below('points', most))
    return update(key, { add: { points }, set: { ttl } }, isWithin)
  }
  const before = pointsIn(known, second - 1, limit)
  const set = { second, points: pointsIn(known, second, limit) + points, before, ttl }
  return update(key, { set }, all(isKnownSecond, equals('points', known.points)))
}
