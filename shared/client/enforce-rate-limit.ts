import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { keepNewest } from '../memory.ts'
import { epochMs, SECOND_MS } from '../time.ts'
import type { Client } from './client.ts'
import {
  type Counted,
  type Counter,
  type CounterName,
  countPoints,
  pointsIn,
} from './rate-store.ts'

type RateDeps = Pick<Deps, 'table' | 'now' | 'stage' | 'memory'>

export type Asked = {
  /** Taken before the request is handled. */
  readonly points: number
  /** It creates a payment, for which the stage may have its own limit. */
  readonly creates?: boolean
}

/** Request units of one point (design section 9). */
export const UNITS_A_POINT = 60

/** The part of its limit that a client may use without a write. */
const UNCOUNTED_PART = 1 / 4
const COUNTER_FRESH_SECONDS = 10

/** What one environment knows of one limit of a client. */
type RateUse = {
  /** Points that may pass before the counter is written. They grow with the environment's share. */
  tokens: number
  /** Until when they have grown, in seconds. In the future when the client is near its limit and each point counts. */
  since: number
  /** Points that passed here and are not in the counter. */
  uncounted: Pick<Counter, 'second' | 'points'>
  lastCounter: Counter | undefined
  /** While uncounted points are being written to the counter, later ones wait. */
  catchingUp: Promise<unknown>
}

declare module '../memory.ts' {
  interface Memory {
    rateUses?: Map<string, RateUse>
  }
}

/**
 * Lets a client's request pass, or refuses it with 429 `rate_limit` (design sections 5 and 9). The counter in the table
 * is a bucket that the limit empties each second. An environment lets its share of a quarter of the limit pass without a
 * write, then writes the counter once for many points, and near the limit for each request.
 */
export async function enforceRateLimit(
  deps: RateDeps,
  client: Client,
  { points, creates }: Asked,
): Promise<void> {
  const of = limitOf(deps, client, creates === true)
  if (!of) return
  grow(deps, of)
  const { use, limit } = of
  if (use.tokens >= points) {
    use.tokens -= points
    return addUncounted(of, thisSecond(deps), points)
  }
  if ((await count(deps, of, points, limit)).is !== 'refused') return
  // Points that passed before are counted, although this request is refused.
  if (use.uncounted.points > 0) await owe(deps, of, 0)
  const owed = use.lastCounter ? pointsIn(use.lastCounter, thisSecond(deps), limit) : 0
  // Whole seconds until the limit has paid them off.
  const retryAfterSeconds = Math.max(1, Math.floor(owed / limit))
  throw new GatewayError('rate_limit', `the limit of ${limit} points a second is used up`, {
    retryAfterSeconds,
  })
}

type Limit = { readonly name: CounterName; readonly limit: number; readonly use: RateUse }

/** A client's own limit covers all its requests; the stage's limit has another one for creates. Undefined: no limit. */
function limitOf(
  deps: RateDeps,
  { clientId, rateLimitPerSecond }: Client,
  creates: boolean,
): Limit | undefined {
  const ofCreates =
    creates && rateLimitPerSecond === undefined ? deps.stage.clientCreateLimit : undefined
  const limit = ofCreates ?? rateLimitPerSecond ?? deps.stage.clientRateLimit
  if (limit === undefined) return undefined
  const name = { clientId, of: ofCreates === undefined ? 'requests' : 'creates' } as const
  const key = `${clientId} ${name.of}`
  const known = (deps.memory.rateUses ??= new Map())
  const use = known.get(key) ?? {
    tokens: 0,
    since: 0,
    uncounted: { second: 0, points: 0 },
    lastCounter: undefined,
    catchingUp: Promise.resolve(),
  }
  known.delete(key)
  keepNewest(known, 1_000).set(key, use)
  return { name, limit, use }
}

/** Gives an environment its share, which passes without the counter. More that the counter gave expires. */
function grow(deps: RateDeps, { limit, use }: Limit): void {
  const now = nowSeconds(deps)
  // The clock may have been set back.
  use.since = Math.min(use.since, now + COUNTER_FRESH_SECONDS)
  if (use.since > now) return
  const aSecond = (limit / (deps.stage.environments ?? 1)) * UNCOUNTED_PART
  const own = Math.max(1, aSecond)
  const isAllowed =
    use.lastCounter !== undefined &&
    use.lastCounter.second + COUNTER_FRESH_SECONDS > now &&
    use.tokens > own
  if (!isAllowed) use.tokens = Math.min(own, use.tokens + (now - use.since) * aSecond)
  use.since = now
}

function nowSeconds(deps: RateDeps): number {
  return epochMs(deps.now()) / SECOND_MS
}

function addUncounted({ use, limit }: Limit, second: number, points: number): void {
  use.uncounted = { second, points: pointsIn(use.uncounted, second, limit) + points }
}

function thisSecond(deps: RateDeps): number {
  return Math.floor(nowSeconds(deps))
}

/** Counts points and the uncounted ones before them. Those that passed and could not be counted are kept for later. */
async function count(deps: RateDeps, of: Limit, points: number, most?: number): Promise<Counted> {
  const { name, limit, use } = of
  const second = thisSecond(deps)
  const before = pointsIn(use.uncounted, second, limit)
  use.uncounted = { second, points: 0 }
  if (before === 0) await use.catchingUp
  const adding = before + points
  const counting = {
    second,
    points: adding,
    limit,
    ...(most !== undefined && { most: most - before }),
  }
  const written = countPoints(deps, name, counting, use.lastCounter)
  if (before > 0) use.catchingUp = written.catch(() => undefined)
  try {
    const counted = await written
    noteCounter(deps, of, counted, adding)
    if (counted.is !== 'counted') addUncounted(of, second, before)
    // Refused points did not pass.
    if (counted.is === 'contended') addUncounted(of, thisSecond(deps), points)
    return counted
  } catch (error) {
    addUncounted(of, second, before)
    throw error
  }
}

/** Far below the limit, environments divide half of the uncounted part by what each counted. Near it each point counts. */
function noteCounter(
  deps: RateDeps,
  { limit, use }: Limit,
  { counter }: Counted,
  added: number,
): void {
  const now = nowSeconds(deps)
  use.lastCounter = counter
  if (!counter) return
  const uncounted = limit * UNCOUNTED_PART
  const { points, before } = counter
  if (Math.max(points, before) > uncounted)
    Object.assign(use, { tokens: 0, since: now + COUNTER_FRESH_SECONDS })
  else if (use.since <= now) use.tokens = (uncounted / 2) * Math.min(1, added / Math.max(1, points))
}

/** Counts a debt, or points that passed here before the limit was reached. */
async function owe(deps: RateDeps, of: Limit, points: number): Promise<void> {
  const second = thisSecond(deps)
  await count(deps, of, points).catch(() => addUncounted(of, second, points))
}

export function pointsOf(units: number): number {
  return Math.ceil(units / UNITS_A_POINT)
}

/** Counts the points that a request used beyond those taken before. They affect only later requests. */
export async function addDebt(
  deps: RateDeps,
  client: Client,
  asked: Asked,
  units: number,
): Promise<void> {
  const points = pointsOf(units) - asked.points
  const of = limitOf(deps, client, asked.creates === true)
  if (!of || points <= 0) return
  grow(deps, of)
  of.use.tokens -= points
  if (of.use.tokens < 0) return owe(deps, of, points)
  addUncounted(of, thisSecond(deps), points)
}
