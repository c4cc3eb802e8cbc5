import { assertInvariant } from '../errors.ts'
import type { StageSettings } from '../stage-settings.ts'
import { epochMs, MINUTE_MS, SECOND_MS, type Timestamp, timestampOf } from '../time.ts'

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
