/** The one clock of the local gateway: gateway, schedules, queue delays, leases and the provider simulator all read it. */
export type LocalClock = {
  /** Milliseconds since the epoch, on this clock. It runs, and only jumps forward. */
  nowMs(): number
  /** Jumps forward. Listeners of `onJump` are told first; then every timer that became due runs, in due order. */
  advance(seconds: number): void
  /** Runs `run` once this clock reaches `dueMs`; a time already past runs on the next turn. Returns its cancellation. */
  at(dueMs: number, run: () => void): () => void
  /** Tells `listener` of every jump, when `nowMs` is already the new time and no timer has run yet. Returns its removal. */
  onJump(listener: () => void): () => void
  /** How far this clock is ahead of the machine's, in milliseconds; kept across restarts of a `--data` directory. */
  offsetMs(): number
  /** Cancels every timer. */
  close(): void
}

export type LocalClockOptions = {
  readonly offsetMs?: number
  /** Called with the new offset before anything can see the new time. What it throws refuses the jump. */
  readonly keepOffset?: (offsetMs: number) => void
}

type Timer = { readonly dueMs: number; readonly run: () => void; cancelled: boolean }

// setTimeout overflows beyond about 24.8 days; a longer wait is taken in steps.
const LONGEST_STEP_MS = 86_400_000

export const startLocalClock = (options: LocalClockOptions = {}): LocalClock => {
  let offset = options.offsetMs ?? 0
  let alarm: NodeJS.Timeout | undefined
  // Latest first: the next one is taken from the end, and thousands of held messages may each have a timer.
  const timers: Timer[] = []
  const jumpListeners = new Set<() => void>()
  const nowMs = () => Date.now() + offset

  const next = () => {
    while (timers.at(-1)?.cancelled) timers.pop()
    return timers.at(-1)
  }

  const arm = () => {
    clearTimeout(alarm)
    const first = next()
    if (!first) return
    alarm = setTimeout(fire, Math.min(Math.max(first.dueMs - nowMs(), 0), LONGEST_STEP_MS))
    // A pending timer alone never keeps the process alive: the servers do that.
    alarm.unref()
  }

  const fire = () => {
    const due: Timer[] = []
    for (let first = next(); first && first.dueMs <= nowMs(); first = next()) {
      due.push(first)
      timers.pop()
    }
    // Timers set by these run on the next turn, so that one which sets itself again cannot hold this loop.
    for (const timer of due) if (!timer.cancelled) timer.run()
    arm()
  }

  return {
    nowMs,
    offsetMs: () => offset,
    advance: (seconds) => {
      const jumped = offset + Math.round(seconds * 1000)
      options.keepOffset?.(jumped)
      offset = jumped
      for (const listener of jumpListeners) listener()
      fire()
    },
    at: (dueMs, run) => {
      const timer: Timer = { dueMs, run, cancelled: false }
      timers.splice(positionFor(timers, dueMs), 0, timer)
      if (timers.at(-1) === timer) arm()
      return () => {
        timer.cancelled = true
      }
    },
    onJump: (listener) => {
      jumpListeners.add(listener)
      return () => jumpListeners.delete(listener)
    },
    close: () => {
      clearTimeout(alarm)
      timers.length = 0
      jumpListeners.clear()
    },
  }
}

/** Where a timer goes among those sorted latest first: before those of the same time, so that equal ones run as they came. */
const positionFor = (timers: readonly Timer[], dueMs: number): number => {
  let low = 0
  let high = timers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((timers[middle]?.dueMs ?? 0) > dueMs) low = middle + 1
    else high = middle
  }
  return low
}
