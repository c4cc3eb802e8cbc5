import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { StageSettings } from '../stage-settings.ts'
import { epochMs, MINUTE_MS, SECOND_MS, type Timestamp, timestampOf } from '../time.ts'
import type { ProviderOperation } from './provider.ts'
import { countClientCall } from './quota-store.ts'

/** The published limit: calls a minute for each operation. Oldest first; a change is a new entry. */
const PUBLISHED: readonly { readonly effectiveFrom: Timestamp; readonly callsPerMinute: number }[] = [
  { effectiveFrom: timestampOf(Date.UTC(2020, 0, 1)), callsPerMinute: 600 },
]

/**
 * The provider counts by a minute whose start we do not know. Windows of ten seconds limit the calls in one of its
 * minutes to the quota plus a sixth; pauses absorb the rest.
 */
const WINDOW_MS = 10 * SECOND_MS
const WINDOWS = MINUTE_MS / WINDOW_MS

/**
 * The calls a minute of one operation for all background work: the stage's own setting, else the published limit.
 * Without `at` (in a deployment) the latest published limit counts.
 */
export const callsPerMinute = (stage: Pick<StageSettings, 'providerCallsPerMinute'>, at?: Timestamp): number => {
  const published = PUBLISHED.findLast(({ effectiveFrom }) => at === undefined || effectiveFrom <= at)
  assertInvariant(published !== undefined, 'no quota is in force')
  return stage.providerCallsPerMinute ?? published.callsPerMinute
}

export type QuotaWindow = { readonly number: number; readonly limit: number; readonly endsAt: Timestamp }

/** The window of a moment. The limits of a minute's windows add up to exactly the quota. */
export const quotaWindow = (perMinute: number, at: Timestamp): QuotaWindow => {
  const number = Math.floor(epochMs(at) / WINDOW_MS)
  const inMinute = number % WINDOWS
  const limit = Math.floor((perMinute * (inMinute + 1)) / WINDOWS) - Math.floor((perMinute * inMinute) / WINDOWS)
  return { number, limit, endsAt: timestampOf((number + 1) * WINDOW_MS) }
}

/** An operation is scarce below this part of a minute's calls, by the last answer in this environment. */
const SCARCE_BELOW = 1 / 2

/** One client's part of a minute's calls of a scarce operation. */
const SHARE = 1 / 4

/** `taken`: the call may be made. Otherwise the seconds until the next minute. */
export type ShareTaken = { readonly taken: true } | { readonly taken: false; readonly retryAfterSeconds: number }

/**
 * Takes one call of an operation for a waiting client. Nothing is counted while many calls are left. When they become
 * scarce, each client gets at most a quarter of the quota (design section 9). So one client cannot starve the others.
 */
export const takeShare = async (
  deps: Pick<Deps, 'table' | 'stage' | 'provider' | 'now'>,
  operation: ProviderOperation,
  clientId: ClientId,
): Promise<ShareTaken> => {
  const now = deps.now()
  const quota = callsPerMinute(deps.stage, now)
  const left = deps.provider.callsLeft(operation)
  if (left === undefined || left >= quota * SCARCE_BELOW) return { taken: true }
  const minute = Math.floor(epochMs(now) / MINUTE_MS)
  const endMs = (minute + 1) * MINUTE_MS
  const limit = Math.max(1, Math.floor(quota * SHARE))
  const window = { number: minute, limit, endsAt: timestampOf(endMs) }
  const { applied } = await countClientCall(deps, operation, clientId, window)
  if (applied) return { taken: true }
  return { taken: false, retryAfterSeconds: Math.ceil((endMs - epochMs(now)) / SECOND_MS) }
}
