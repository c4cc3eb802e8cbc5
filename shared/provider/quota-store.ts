import type { Deps, TableDeps } from '../deps.ts'
import { limitError } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { isFresh } from '../memory.ts'
import type { StageSettings } from '../stage-settings.ts'
import { fieldsFrom, type Item } from '../table/attributes.ts'
import { pausesKey, quotaKey, quotaShareKey } from '../table/keys.ts'
import { above, absent, all, any, atMost, below, update } from '../table/step.ts'
import {
  addMs,
  type Dated,
  END_OF_TIME,
  entryInForce,
  epochMs,
  expiresAfter,
  HOUR_MS,
  MINUTE_MS,
  msBetween,
  SECOND_MS,
  type Timestamp,
  TimestampSchema,
  timestampOf,
} from '../time.ts'
import { LONGEST_PAUSE_MS, type ProviderOperation } from './provider.ts'

/** The published limit: calls a minute for each operation. */
const PUBLISHED: readonly (Dated & { readonly callsPerMinute: number })[] = [
  { effectiveFrom: timestampOf(Date.UTC(2020, 0, 1)), callsPerMinute: 600 },
]

/** The stage's setting, else the published limit, in a deployment the latest. */
export function callsPerMinute(
  stage: Pick<StageSettings, 'providerCallsPerMinute'>,
  at: string = END_OF_TIME,
) {
  return stage.providerCallsPerMinute ?? entryInForce(PUBLISHED, at).callsPerMinute
}

/**
 * Worker seconds for one payment: the figures of `npm run bench -- walls` at 200 ms a provider
 * call, plus a third.
 */
export const SECONDS_A_PAYMENT = { listing: 0.087, due: 0.05 } as const

/** Enough workers for all payments which this quota lets clients create. */
export function workersForQuota(work: keyof typeof SECONDS_A_PAYMENT, perMinute: number): number {
  return Math.ceil((perMinute / 60) * SECONDS_A_PAYMENT[work])
}

/** A caller that loses more races for the counter tries again in the next window. */
const MAX_TRIES = 3

type Calls = ReadonlyMap<ProviderOperation, number>

/**
 * Takes up to the wanted calls of each operation's quota in one conditional write (design section
 * 9), which all workers share. A paused operation gets no calls. `retryAt`: when the caller can
 * take the missing calls; undefined if all were granted.
 */
export async function takeCalls(deps: PauseDeps & Pick<Deps, 'stage'>, wantedCalls: Calls) {
  const now = deps.now()
  const window = quotaWindow(callsPerMinute(deps.stage, now), now)
  const pauses = await pausesOf(deps, wantedCalls.keys())
  const openCalls = [...wantedCalls].filter(([operation]) => !pauses.has(operation))
  let granted: Calls = new Map()
  let counters: Item | undefined
  for (let tried = 0; tried < MAX_TRIES && granted.size === 0; tried++) {
    const leftOf = (name: ProviderOperation) => window.limit - Number(counters?.[name] ?? 0)
    const portions = openCalls
      .map(([operation, calls]) => [operation, Math.min(calls, leftOf(operation))] as const)
      .filter(([, calls]) => calls > 0)
    if (portions.length === 0) break
    const { applied, item } = await countCalls(deps, window, portions)
    if (applied) granted = new Map(portions)
    counters = item
  }
  const isUsedUp = openCalls.some(([operation, calls]) => (granted.get(operation) ?? 0) < calls)
  const times = [...pauses.values(), ...(isUsedUp ? [window.endsAt] : [])]
  return { granted, retryAt: times.toSorted().at(-1) }
}

/**
 * We do not know when the provider's minute begins. Windows of ten seconds exceed its limit by at
 * most a sixth.
 */
const WINDOW_MS = 10 * SECOND_MS
const WINDOWS = MINUTE_MS / WINDOW_MS

type QuotaWindow = { readonly number: number; readonly limit: number; readonly endsAt: Timestamp }

/** The limits of a minute's windows add up to exactly the quota. */
export function quotaWindow(perMinute: number, at: Timestamp): QuotaWindow {
  const number = Math.floor(epochMs(at) / WINDOW_MS)
  const inMinute = number % WINDOWS
  const limit =
    Math.floor((perMinute * (inMinute + 1)) / WINDOWS) -
    Math.floor((perMinute * inMinute) / WINDOWS)
  return { number, limit, endsAt: timestampOf((number + 1) * WINDOW_MS) }
}

type PauseDeps = Pick<Deps, 'table' | 'provider' | 'now' | 'memory'>

/** When the pause of each paused operation ends. */
export async function pausesOf(deps: PauseDeps, operations: Iterable<ProviderOperation>) {
  const pauses = new Map<ProviderOperation, Timestamp>()
  for (const operation of operations) {
    const until = await pausedUntil(deps, operation)
    if (until) pauses.set(operation, until)
  }
  return pauses
}

/**
 * Costs at most one read a second in each environment. A later end than of the longest pause was
 * written by a wrong clock, and would stop all payments until then.
 */
export async function pausedUntil(deps: PauseDeps, operation: ProviderOperation) {
  const own = ownPause(deps, operation)
  if (own) return own
  const until = ifValid(TimestampSchema, (await readPauses(deps))[operation])
  const leftMs = until === undefined ? 0 : msBetween(deps.now(), until)
  return leftMs > 0 && leftMs <= LONGEST_PAUSE_MS ? until : undefined
}

function ownPause({ provider, now }: PauseDeps, operation: ProviderOperation) {
  const pauseMs = provider.pauseMs(operation)
  return pauseMs > 0 ? addMs(now(), pauseMs) : undefined
}

/**
 * Read as of some milliseconds ago and cached for a second: meanwhile the pause of another
 * environment is not seen, and a few more calls are refused.
 */
async function readPauses(deps: PauseDeps) {
  const now = deps.now()
  const { providerPauses: cachedPauses } = deps.memory
  if (cachedPauses && isFresh(cachedPauses, now)) return cachedPauses.pauses
  const [pauses = {}] = await deps.table.getMany([pausesKey], 'eventual')
  deps.memory.providerPauses = { from: now, until: addMs(now, SECOND_MS), pauses }
  return pauses
}

/** Longer than any clock skew between environments, so that no counter in use expires. */
const COUNTER_LIFE_MS = HOUR_MS

/** Takes all of these calls or none. A refusal answers the present counters. */
function countCalls(
  deps: TableDeps,
  { number, limit, endsAt }: QuotaWindow,
  calls: readonly (readonly [ProviderOperation, number])[],
  clientId?: ClientId,
) {
  const key = clientId === undefined ? quotaKey(number) : quotaShareKey(clientId, number)
  const hasRoom = calls.map(([operation, count]) =>
    any(absent(operation), atMost(operation, limit - count)),
  )
  const changes = { add: fieldsFrom(calls), set: { ttl: expiresAfter(endsAt, COUNTER_LIFE_MS) } }
  return deps.table.write(update(key, changes, all(...hasRoom)))
}

/**
 * Creates are scarce when fewer than this part of the creates of a minute are left, by the last
 * answer in this environment.
 */
const SCARCE_BELOW = 1 / 2
/** The part of the creates of a minute that one client may use while creates are scarce. */
const SHARE = 1 / 4

type ShareDeps = Pick<Deps, 'stage' | 'provider' | 'now'>

export function isScarce(deps: ShareDeps): boolean {
  const callsLeft = deps.provider.callsLeft('createRequest') ?? Infinity
  return callsLeft < createsOfMinute(deps) * SCARCE_BELOW
}

function createsOfMinute({ stage, provider, now }: ShareDeps) {
  return provider.callsOfMinute('createRequest') ?? callsPerMinute(stage, now())
}

/**
 * Takes one create for a waiting client, and answers how to give it back. Throws 429 with the
 * seconds until the next minute. Creates are counted only when they become scarce, so that one
 * client cannot starve the others.
 */
export async function takeShare(
  deps: ShareDeps & TableDeps,
  clientId: ClientId,
): Promise<() => Promise<unknown>> {
  if (!isScarce(deps)) return async () => undefined
  const now = deps.now()
  const minute = Math.floor(epochMs(now) / MINUTE_MS)
  const endsAt = timestampOf((minute + 1) * MINUTE_MS)
  const limit = Math.max(1, Math.floor(createsOfMinute(deps) * SHARE))
  const count = (calls: number) =>
    countCalls(deps, { number: minute, limit, endsAt }, [['createRequest', calls]], clientId)
  if ((await count(1)).applied) return () => count(-1).catch(() => undefined)
  const message = 'provider capacity is limited; your share for this minute is used'
  throw limitError(message, msBetween(now, endsAt), 'no_capacity')
}

/** Taken from the quota in portions, used one by one. */
export function callBudget(
  deps: PauseDeps & Pick<Deps, 'stage'>,
  portions: Readonly<Partial<Record<ProviderOperation, number>>>,
) {
  const callsLeft = new Map<ProviderOperation, number>()
  let window: Timestamp | undefined
  const takeNow = async (operations: readonly ProviderOperation[]) => {
    const { endsAt } = quotaWindow(callsPerMinute(deps.stage, deps.now()), deps.now())
    if (window !== endsAt) callsLeft.clear()
    window = endsAt
    const missing = operations.filter((operation) => !callsLeft.get(operation))
    const wanted = missing.map((operation) => [operation, portions[operation] ?? 1] as const)
    const { granted, retryAt } = await takeCalls(deps, new Map(wanted))
    for (const [operation, calls] of granted) callsLeft.set(operation, calls)
    if (granted.size < missing.length) return retryAt ?? endsAt
    for (const operation of operations)
      callsLeft.set(operation, (callsLeft.get(operation) ?? 1) - 1)
    return undefined
  }
  let lastTake: Promise<unknown> = Promise.resolve()
  return {
    /**
     * Undefined: one call of each operation may be made now. Otherwise the time of the next try.
     * Callers wait for each other, because each caller that sees no portion takes a new one.
     */
    take: (...operations: readonly ProviderOperation[]) => {
      const taken = lastTake.then(() => takeNow(operations))
      lastTake = taken.catch(() => undefined)
      return taken
    },
    /**
     * The provider answered 429: drops the unused calls and pauses the operations in all
     * environments.
     */
    noteRefusal: async (operations: readonly ProviderOperation[]) => {
      for (const operation of operations) callsLeft.delete(operation)
      await notePause(deps, operations)
    },
  }
}

/**
 * Records a 429 for all environments, for the provider's time. A longer pause already recorded
 * stays. Of the given operations only those pause that the provider refused.
 */
export async function notePause(
  deps: PauseDeps,
  operations: readonly ProviderOperation[],
): Promise<void> {
  for (const operation of operations) {
    const until = ownPause(deps, operation)
    if (until === undefined) continue
    const [ttl, latest] = [expiresAfter(until, HOUR_MS), addMs(deps.now(), LONGEST_PAUSE_MS)]
    const set = { ...fieldsFrom([[operation, until]]), ttl }
    const isShorter = any(absent(operation), below(operation, until), above(operation, latest))
    await deps.table.write(update(pausesKey, { set }, isShorter))
    deps.memory.providerPauses = undefined
  }
}
