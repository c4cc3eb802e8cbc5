type Event = { readonly timeMs: number; readonly run: () => void; cancelled: boolean }

/** Lets every promise that can go on do so: a tick comes after all microtasks, always in the same order. */
const settle = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** Simulated time: everything that happens is an event here, and nothing else moves the clock. */
export type Scheduler = ReturnType<typeof createScheduler>

export const createScheduler = (startMs: number) => {
  /** The next event is the last one. Of events of the same time the last one was added first. */
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

  const runNext = async (): Promise<boolean> => {
    const event = events.pop()
    if (!event) return false
    if (event.cancelled) return true
    now = Math.max(now, event.timeMs)
    steps++
    event.run()
    await settle()
    return true
  }

  /** Runs all events up to a time, and sets the clock to it. */
  const runUntil = async (timeMs: number): Promise<void> => {
    await settle()
    for (let next = events.at(-1); next && next.timeMs <= timeMs; next = events.at(-1)) await runNext()
    now = Math.max(now, timeMs)
  }

  return {
    nowMs: () => now,
    /** Runs `run` at a time; a past one is now. Events of the same time run in the order they were added. */
    at,
    after: (delayMs: number, run: () => void) => at(now + delayMs, run),
    /** Runs the next event and everything that follows from it without waiting. False when there is none. */
    step: async () => {
      // What was begun outside of an event makes its first calls before time moves on.
      await settle()
      return runNext()
    },
    runUntil,
    runFor: (ms: number) => runUntil(now + ms),
    steps: () => steps,
  }
}
