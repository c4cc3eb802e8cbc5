type Event = { readonly timeMs: number; readonly run: () => void; cancelled: boolean }

/** Simulated time. Everything that happens is an event here, and only events advance the clock. */
export type Scheduler = ReturnType<typeof createScheduler>

export function createScheduler(startMs: number) {
  /** In reverse order: the last element is the next event. */
  const events: Event[] = []
  let now = startMs
  let steps = 0

  const at = (timeMs: number, run: () => void) => {
    const event: Event = { timeMs: Math.max(timeMs, now), run, cancelled: false }
    events.splice(events.findLastIndex((other) => other.timeMs > event.timeMs) + 1, 0, event)
    return () => {
      event.cancelled = true
    }
  }

  const runNext = async () => {
    const event = events.pop()
    if (!event) return false
    if (event.cancelled) return true
    now = Math.max(now, event.timeMs)
    steps++
    event.run()
    await settle()
    return true
  }

  const runUntil = async (timeMs: number) => {
    await settle()
    for (let next = events.at(-1); next && next.timeMs <= timeMs; next = events.at(-1))
      await runNext()
    now = Math.max(now, timeMs)
  }

  return {
    nowMs: () => now,
    /** Events of the same time run in the order of their addition. */
    at,
    after: (delayMs: number, run: () => void) => at(now + delayMs, run),
    /** False when there is no event. */
    step: async () => {
      // Work that began outside an event makes its first calls before time advances.
      await settle()
      return runNext()
    },
    runUntil,
    runFor: (ms: number) => runUntil(now + ms),
    steps: () => steps,
  }
}

/**
 * Runs all promises that can continue: the next tick comes after all microtasks, always in the same
 * order.
 */
function settle() {
  return new Promise<void>((resolve) => process.nextTick(resolve))
}
