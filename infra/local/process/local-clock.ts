type LocalClockOptions = {
  readonly offsetMs?: number
  /** Called before any part can see the new time. If it throws, the clock does not jump. */
  readonly keepOffset?: (offsetMs: number) => void
}

type Timer = { readonly dueMs: number; readonly run: () => void; cancelled: boolean }

// setTimeout overflows after about 24.8 days.
const LONGEST_STEP_MS = 86_400_000

/**
 * For functions, schedules, queue delays, leases and the provider simulator. It jumps only forward.
 */
export function startLocalClock(options: LocalClockOptions = {}) {
  let offset = options.offsetMs ?? 0
  let alarm: NodeJS.Timeout | undefined
  // Latest first, so that the next timer is taken from the end. Thousands of held messages may each
  // have a timer.
  const timers: Timer[] = []
  const jumpListeners = new Set<() => void>()
  const nowMs = () => Date.now() + offset

  const nextTimer = () => {
    while (timers.at(-1)?.cancelled) timers.pop()
    return timers.at(-1)
  }

  const arm = () => {
    clearTimeout(alarm)
    const timer = nextTimer()
    if (!timer) return
    alarm = setTimeout(fire, Math.min(Math.max(timer.dueMs - nowMs(), 0), LONGEST_STEP_MS))
    // Only the servers keep the process alive.
    alarm.unref()
  }

  const fire = () => {
    const due: Timer[] = []
    for (let timer = nextTimer(); timer && timer.dueMs <= nowMs(); timer = nextTimer()) {
      due.push(timer)
      timers.pop()
    }
    // A timer that a due timer sets runs later, so it cannot block this loop.
    for (const timer of due) if (!timer.cancelled) timer.run()
    arm()
  }

  return {
    nowMs,
    /** Calls the listeners of `onJump`, then runs every timer that became due, in due order. */
    advance: (seconds: number) => {
      const newOffset = offset + Math.round(seconds * 1000)
      options.keepOffset?.(newOffset)
      offset = newOffset
      for (const listener of jumpListeners) listener()
      fire()
    },
    /** Calls `run` at `dueMs`, or soon if that is past. Returns a function that cancels it. */
    at: (dueMs: number, run: () => void) => {
      const timer: Timer = { dueMs, run, cancelled: false }
      insertByDue(timers, timer)
      if (timers.at(-1) === timer) arm()
      return () => {
        timer.cancelled = true
      }
    },
    /** Calls `listener` at the new time, before any timer. Returns a function that removes it. */
    onJump: (listener: () => void) => {
      jumpListeners.add(listener)
      return (): void => void jumpListeners.delete(listener)
    },
    close: () => {
      clearTimeout(alarm)
      timers.length = 0
      jumpListeners.clear()
    },
  }
}

export type LocalClock = ReturnType<typeof startLocalClock>

/** The latest is first. Items of the same time are taken in order of arrival. */
export function insertByDue<T extends { readonly dueMs: number }>(list: T[], item: T) {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle]?.dueMs ?? 0) > item.dueMs) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, item)
}
