import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { epochMs, SECOND_MS } from '../time.ts'
import type { Client } from './client.ts'
import { countRequests, reportRequests } from './rate-store.ts'

type RateDeps = Pick<Deps, 'table' | 'now' | 'stage'>

/** Environments tell each other of a client at most this far apart, and stay alert for as long. */
const WINDOW_SECONDS = 10
/** Of its limit: what a client may use without anything being written for it. */
const UNCOUNTED_PART = 1 / 4
const RETRY_AFTER_SECONDS = 1
const CLIENT_LIMIT = 1_000

/** What one environment knows of a client's requests. Times are seconds of the wall clock. */
type Use = {
  window: number
  /** Of this window, here. */
  requests: number
  /** How many of them the others have been told of, and how many may pass before the next time. */
  reported: number
  reportAt: number
  second: number
  /** Of this second, here, and how many of them are in its counter. */
  thisSecond: number
  counted: number
  /** Until then every request is counted together with those of all other environments. */
  countedUntil: number
  refusedIn: number
  /** While those that passed uncounted are on their way into the counter: what comes behind them counts behind them. */
  catchingUp: Promise<unknown>
}

type Load = { readonly weight: number; readonly taken: number }

// Of one environment, and there of all its functions.
const uses = new WeakMap<Deps['stage'], Map<ClientId, Use>>()

const useOf = ({ stage }: RateDeps, clientId: ClientId): Use => {
  const known = uses.get(stage) ?? new Map<ClientId, Use>()
  uses.set(stage, known)
  const use = known.get(clientId) ?? {
    window: 0,
    requests: 0,
    reported: 0,
    reportAt: 0,
    second: 0,
    thisSecond: 0,
    counted: 0,
    countedUntil: 0,
    refusedIn: 0,
    catchingUp: Promise.resolve(),
  }
  // The one heard of longest ago makes room.
  known.delete(clientId)
  const oldest = known.size < CLIENT_LIMIT ? undefined : known.keys().next().value
  if (oldest !== undefined) known.delete(oldest)
  known.set(clientId, use)
  return use
}

const noteRequest = (use: Use, second: number, weight: number): void => {
  const window = Math.floor(second / WINDOW_SECONDS)
  if (use.window !== window) Object.assign(use, { window, requests: 0, reported: 0, reportAt: 0 })
  if (use.second !== second) Object.assign(use, { second, thisSecond: 0, counted: 0 })
  use.requests += weight
  use.thisSecond += weight
}

/** Tells the others how much this environment has let pass, and hears whether all together are far from the limit. */
const isFarBelow = async (deps: RateDeps, clientId: ClientId, use: Use, soFar: number): Promise<boolean> => {
  const requests = use.requests - use.reported
  const environments = use.reported === 0 ? 1 : 0
  use.reported = use.requests
  const told = { second: use.second, requests, environments }
  const { item } = await reportRequests(deps, clientId, use.window, told)
  const room = soFar - Number(item?.['requests'])
  // All who have reported may use up half of what is left before they report again.
  // At least this one has, even where its first report was lost on the way and no other has counted it.
  use.reportAt = use.requests + Math.floor(room / 2 / Math.max(1, Number(item?.['environments'])))
  return room >= 0
}

/**
 * Counts this second's requests together with those of all environments: this one, and those before it that are not in
 * the counter yet. False when there were as many as the limit before this one.
 */
const countTogether = async (deps: RateDeps, clientId: ClientId, use: Use, limit: number, { weight, taken }: Load) => {
  const { second } = use
  const adding = use.thisSecond - use.counted
  const room = limit - (adding - weight) + taken
  use.counted = use.thisSecond
  if (room <= 0) {
    // This environment alone has let the limit pass.
    use.refusedIn = second
    return false
  }
  const isCatchingUp = adding > weight
  if (!isCatchingUp) await use.catchingUp
  const write = countRequests(deps, clientId, second, { requests: adding, room })
  if (isCatchingUp) use.catchingUp = write.catch(() => undefined)
  const { applied, item } = await write
  if (!applied) use.refusedIn = second
  if (Number(item?.['requests']) > limit * UNCOUNTED_PART) use.countedUntil = second + WINDOW_SECONDS
  return applied
}

const isWithin = async (deps: RateDeps, clientId: ClientId, limit: number, load: Load): Promise<boolean> => {
  const use = useOf(deps, clientId)
  const second = Math.floor(epochMs(deps.now()) / SECOND_MS)
  noteRequest(use, second, load.weight)
  if (use.refusedIn === second) return false
  const aSecond = limit * UNCOUNTED_PART
  if (second < use.countedUntil || use.thisSecond > Math.max(1, aSecond)) {
    return countTogether(deps, clientId, use, limit, load)
  }
  const soFar = aSecond * ((second % WINDOW_SECONDS) + 1)
  const own = Math.max(1, soFar / (deps.stage.environments ?? 1))
  if (use.requests <= Math.max(own, use.reportAt)) return true
  return (await isFarBelow(deps, clientId, use, soFar)) || countTogether(deps, clientId, use, limit, load)
}

/**
 * Lets a client's request pass, or refuses it with 429 `rate_limit` (design section 5): its own limit, or the stage's.
 * An environment of `stage.environments` lets its part of a quarter of the limit pass without a write; beyond that it
 * tells the others, in one write for many requests, and once all together are past a quarter each request is counted in
 * the current second, with one write. So however many environments a flood meets, little more than the limit passes.
 * `weight`: as how many requests it counts. `taken`: as how many the same one has been let pass; they do not stand in its
 * own way.
 */
export const enforceRateLimit = async (
  deps: RateDeps,
  { clientId, rateLimitPerSecond }: Client,
  weight = 1,
  taken = 0,
): Promise<void> => {
  const limit = rateLimitPerSecond ?? deps.stage.clientRateLimit
  if (limit === undefined || (await isWithin(deps, clientId, limit, { weight, taken }))) return
  throw new GatewayError('rate_limit', `more than ${limit} requests in one second`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
