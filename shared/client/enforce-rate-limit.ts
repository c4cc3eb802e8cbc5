import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { keepNewest } from '../memory.ts'
import { epochMs, SECOND_MS } from '../time.ts'
import type { Caller } from './client.ts'
import {
  type Counter,
  type CounterName,
  type CountOutcome,
  countPoints,
  pointsIn,
} from './rate-store.ts'

type RateDeps = Pick<Deps, 'table' | 'now' | 'stage' | 'memory'>

type RequestCost = {
  readonly points: number
  /** The stage may limit creates separately. */
  readonly creates?: boolean
  /**
   * The points of a request that has passed before and now knows what its next reads cost. It may
   * use the limit of a second more, so that many requests at once do not refuse each other. Its own
   * points alone never refuse it: a list that takes them page by page would never be served.
   */
  readonly taken?: number
}

/** Request units of one point (design section 9). */
export const UNITS_A_POINT = 60

/** The part of its limit that a client may use without a write. */
const UNCOUNTED_PART = 1 / 4
const COUNTER_FRESH_SECONDS = 10

type RateUse = {
  /** Points that may pass before the counter is written. */
  tokens: number
  /**
   * The second up to which `tokens` have grown; in the future when the client is near its limit.
   */
  grownUntil: number
  /** Points that passed here and are not in the counter. */
  uncounted: Pick<Counter, 'second' | 'points'>
  lastCounter: Counter | undefined
  /** While uncounted points are being written to the counter, later points wait. */
  catchingUp: Promise<unknown>
}

declare module '../memory.ts' {
  interface Memory {
    rateUses?: Map<string, RateUse>
  }
}

/**
 * Lets a client's request pass, or refuses it with 429 `rate_limit` (design sections 5 and 9). The
 * counter in the table is a bucket that the limit empties each second. An environment lets its
 * share of a quarter of the limit pass without a write, then writes the counter once for many
 * points, and near the limit for each request.
 */
export async function enforceRateLimit(
  deps: RateDeps,
  client: Caller,
  { points, creates, taken }: RequestCost,
): Promise<void> {
  const bucket = limitOf(deps, client, creates)
  if (!bucket) return
  growTokens(deps, bucket)
  const { use, limit } = bucket
  if (use.tokens >= points) {
    use.tokens -= points
    return addUncounted(bucket, thisSecond(deps), points)
  }
  const most = taken === undefined ? limit : limit + Math.max(limit, taken)
  if ((await countAll(deps, bucket, points, most)).kind !== 'refused') return
  // Points that passed before are counted, although this request is refused.
  if (use.uncounted.points > 0) await countDebt(deps, bucket, 0)
  const { second, points: owedPoints } = use.lastCounter ?? { second: 0, points: 0 }
  // Whole seconds until the limit has paid off these points.
  const secondsAhead = Math.min(second - thisSecond(deps), COUNTER_FRESH_SECONDS)
  const retryAfterSeconds = Math.max(1, Math.floor(secondsAhead + owedPoints / limit))
  throw new GatewayError('rate_limit', `the limit of ${limit} points a second is used up`, {
    retryAfterSeconds,
  })
}

type Bucket = { readonly name: CounterName; readonly limit: number; readonly use: RateUse }

/**
 * A client's own limit covers all its requests; the stage has a second limit for creates.
 * Undefined: no limit.
 */
function limitOf(
  deps: RateDeps,
  { clientId, rateLimitPerSecond }: Caller,
  creates = false,
): Bucket | undefined {
  const createLimit =
    creates && rateLimitPerSecond === undefined ? deps.stage.clientCreateLimit : undefined
  const limit = createLimit ?? rateLimitPerSecond ?? deps.stage.clientRateLimit
  if (limit === undefined) return undefined
  const name = { clientId, kind: createLimit === undefined ? 'requests' : 'creates' } as const
  const key = `${clientId} ${name.kind}`
  const uses = (deps.memory.rateUses ??= new Map())
  const use = uses.get(key) ?? {
    tokens: 0,
    grownUntil: 0,
    uncounted: { second: 0, points: 0 },
    lastCounter: undefined,
    catchingUp: Promise.resolve(),
  }
  uses.delete(key)
  keepNewest(uses, 1_000).set(key, use)
  return { name, limit, use }
}

/** Tokens grow to the environment's share. More tokens, from the counter, expire. */
function growTokens(deps: RateDeps, { limit, use }: Bucket) {
  const now = nowSeconds(deps)
  // The clock may have been set back.
  use.grownUntil = Math.min(use.grownUntil, now + COUNTER_FRESH_SECONDS)
  if (use.grownUntil > now) return
  const growth = (limit / (deps.stage.environments ?? 1)) * UNCOUNTED_PART
  const share = Math.max(1, growth)
  const mayKeepTokens =
    use.lastCounter !== undefined &&
    use.lastCounter.second + COUNTER_FRESH_SECONDS > now &&
    use.tokens > share
  if (!mayKeepTokens) use.tokens = Math.min(share, use.tokens + (now - use.grownUntil) * growth)
  use.grownUntil = now
}

function nowSeconds(deps: RateDeps) {
  return epochMs(deps.now()) / SECOND_MS
}

function addUncounted({ use, limit }: Bucket, second: number, points: number) {
  use.uncounted = { second, points: pointsIn(use.uncounted, second, limit) + points }
}

function thisSecond(deps: RateDeps) {
  return Math.floor(nowSeconds(deps))
}

/** Counts the uncounted points too. Points that passed but could not be counted are kept. */
async function countAll(
  deps: RateDeps,
  bucket: Bucket,
  points: number,
  most?: number,
): Promise<CountOutcome> {
  const { name, limit, use } = bucket
  const second = thisSecond(deps)
  const backlog = pointsIn(use.uncounted, second, limit)
  use.uncounted = { second, points: 0 }
  if (backlog === 0) await use.catchingUp
  const total = backlog + points
  const request = {
    second,
    points: total,
    limit,
    ...(most !== undefined && { most: most - backlog }),
  }
  const write = countPoints(deps, name, request, use.lastCounter)
  if (backlog > 0) use.catchingUp = write.catch(() => undefined)
  try {
    const outcome = await write
    noteCounter(deps, bucket, outcome, total)
    if (outcome.kind !== 'counted') addUncounted(bucket, second, backlog)
    // Refused points did not pass.
    if (outcome.kind === 'contended') addUncounted(bucket, thisSecond(deps), points)
    return outcome
  } catch (error) {
    addUncounted(bucket, second, backlog)
    throw error
  }
}

/**
 * Environments share half of the uncounted part by the points that each counted. Near the limit
 * each point counts.
 */
function noteCounter(
  deps: RateDeps,
  { limit, use }: Bucket,
  { counter }: CountOutcome,
  added: number,
): void {
  const now = nowSeconds(deps)
  use.lastCounter = counter
  if (!counter) return
  const uncounted = limit * UNCOUNTED_PART
  const { points, before } = counter
  if (Math.max(points, before) > uncounted)
    Object.assign(use, { tokens: 0, grownUntil: now + COUNTER_FRESH_SECONDS })
  else if (use.grownUntil <= now)
    use.tokens = (uncounted / 2) * Math.min(1, added / Math.max(1, points))
}

/** A debt, or points that passed before the limit was reached. */
async function countDebt(deps: RateDeps, bucket: Bucket, points: number) {
  const second = thisSecond(deps)
  await countAll(deps, bucket, points).catch(() => addUncounted(bucket, second, points))
}

export function pointsOf(units: number): number {
  return Math.ceil(units / UNITS_A_POINT)
}

/** What a request used beyond the points taken before affects only later requests. */
export async function addDebt(
  deps: RateDeps,
  client: Caller,
  cost: RequestCost,
  units: number,
): Promise<void> {
  const points = pointsOf(units) - cost.points
  const bucket = limitOf(deps, client, cost.creates)
  if (!bucket || points <= 0) return
  growTokens(deps, bucket)
  bucket.use.tokens -= points
  if (bucket.use.tokens < 0) return countDebt(deps, bucket, points)
  addUncounted(bucket, thisSecond(deps), points)
}
