import { addMs, SECOND_MS, type Timestamp, timestampOf } from '../../shared/time.ts'

/** A clock that moves only when told, or when the code under test sleeps. */
export type ManualClock = {
  now(): Timestamp
  monotonicMs(): number
  set(time: Timestamp): void
  advance(seconds: number): void
  /** Passes the time at once, and lets other work have its turn as a real wait would. */
  sleep(ms: number): Promise<void>
}

/**
 * A wait that takes no time on the manual clock: for crowds, whose waits would add up on it although they pass side by
 * side, and wear out every lease.
 */
export const sleepBesideOthers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

export const manualClock = (start: Timestamp = timestampOf(Date.UTC(2026, 10, 20, 4, 0, 0))): ManualClock => {
  let current = start
  let elapsedMs = 0
  const pass = (ms: number) => {
    current = addMs(current, ms)
    elapsedMs += ms
  }
  return {
    now: () => current,
    monotonicMs: () => elapsedMs,
    set: (time) => {
      current = time
    },
    advance: (seconds) => pass(seconds * SECOND_MS),
    // Waits that overlap pass together: whoever wakes first has moved the clock for the others too.
    sleep: async (ms) => {
      const wakeAt = elapsedMs + ms
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (elapsedMs < wakeAt) pass(wakeAt - elapsedMs)
    },
  }
}
