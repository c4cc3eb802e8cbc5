import { MAX_DELAY_SECONDS } from '../../queues.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../time.ts'

/** Waits after the first, second, ... failure of a round (spec 6.4). */
const WAITS_MS = [
  60 * SECOND_MS,
  2 * MINUTE_MS,
  4 * MINUTE_MS,
  8 * MINUTE_MS,
  16 * MINUTE_MS,
  32 * MINUTE_MS,
  64 * MINUTE_MS,
] as const

/** Spec 6.4: no wait is longer, even if the table above changes. */
const LONGEST_WAIT_MS = 6 * HOUR_MS

export const ATTEMPTS_PER_ROUND = WAITS_MS.length + 1

/** The wait after the given number of failures in a round; undefined when the round is over. */
export const waitAfterFailureMs = (failures: number): number | undefined => {
  const waitMs = WAITS_MS[failures - 1]
  return waitMs === undefined ? undefined : Math.min(waitMs, LONGEST_WAIT_MS)
}

/** The delay of a message for work that is due in `waitMs`: rounded up, in hops when SQS cannot hold it that long. */
export const hopSeconds = (waitMs: number): number =>
  Math.min(Math.max(Math.ceil(waitMs / SECOND_MS), 1), MAX_DELAY_SECONDS)
