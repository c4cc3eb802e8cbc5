import { assertInvariant } from '../errors.ts'
import type { StageSettings } from '../stage-settings.ts'
import { epochMs, MINUTE_MS, SECOND_MS, type Timestamp, timestampOf } from '../time.ts'

/** What the provider publishes: calls a minute, of each operation by itself. Oldest first; a change is a new entry. */
const PUBLISHED: readonly { readonly effectiveFrom: Timestamp; readonly callsPerMinute: number }[] = [
  { effectiveFrom: timestampOf(Date.UTC(2020, 0, 1)), callsPerMinute: 600 },
]

/**
 * The provider counts by a minute whose beginning we do not know. Budgets of ten seconds keep two bursts of ours from
 * falling into one of its minutes: at most a sixth more than the quota, for which there are pauses.
 */
const WINDOW_MS = 10 * SECOND_MS
const WINDOWS = MINUTE_MS / WINDOW_MS

/**
 * Calls a minute and operation that background work may make in all: the stage's own number, else what is published. A
 * deployment names no moment and gets the number that was published last.
 */
export const callsPerMinute = (stage: Pick<StageSettings, 'providerCallsPerMinute'>, at?: Timestamp): number => {
  const published = PUBLISHED.findLast(({ effectiveFrom }) => at === undefined || effectiveFrom <= at)
  assertInvariant(published !== undefined, 'no quota is in force')
  return stage.providerCallsPerMinute ?? published.callsPerMinute
}

export type QuotaWindow = { readonly number: number; readonly limit: number; readonly endsAt: Timestamp }

/** The window of a moment. The limits of a minute's windows add up to the quota exactly, however small it is. */
export const quotaWindow = (perMinute: number, at: Timestamp): QuotaWindow => {
  const number = Math.floor(epochMs(at) / WINDOW_MS)
  const inMinute = number % WINDOWS
  const limit = Math.floor((perMinute * (inMinute + 1)) / WINDOWS) - Math.floor((perMinute * inMinute) / WINDOWS)
  return { number, limit, endsAt: timestampOf((number + 1) * WINDOW_MS) }
}
