/** Simulated time: everything that happens is an event here, and nothing else moves the clock. */
export type Scheduler = {
  nowMs(): number
  /** Runs `run` at a time; a past one is now. Events of the same time run in the order they were added. */
  at(timeMs: number, run: () => void): () => void
  after(delayMs: number, run: () => void): () => void
  /** Runs the next event and everything that follows from it without waiting. False when there is none. */
  step(): Promise<boolean>
  /** Runs all events up to a time, and sets the clock to it. */
  runUntil(timeMs: number): Promise<void>
  readonly steps: number
}

type Event = { readonly timeMs: number; readonly order: number; readonly run: () => void; cancelled: boolean }

const isBefore = (a: Event, b: Event) => a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.order < b.order)

/** A binary heap: histories have thousands of events, and most are added near the front. */
const createHeap = () => {
  const items: Event[] = []
  const at = (index: number): Event => {
    const item = items[index]
    if (item === undefined) throw new Error('the heap is broken')
    return item
  }
  const swap = (a: number, b: number) => {
    const kept = at(a)
    items[a] = at(b)
    items[b] = kept
  }
  const sink = () => {
    for (let index = 0; ; ) {
      const left = 2 * index + 1
      if (left >= items.length) return
      const right = left + 1
      const child = right < items.length && isBefore(at(right), at(left)) ? right : left
      if (!isBefore(at(child), at(index))) return
      swap(index, child)
      index = child
    }
  }
  return {
    peek: (): Event | undefined => items[0],
    push: (event: Event) => {
      items.push(event)
      for (let index = items.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1
        if (!isBefore(at(index), at(parent))) return
        swap(index, parent)
        index = parent
      }
    },
    pop: (): Event | undefined => {
      const first = items[0]
      const last = items.pop()
      if (first === undefined || last === undefined || items.length === 0) return first
      items[0] = last
      sink()
      return first
    },
  }
}

/** Lets every promise that can go on do so. The order of microtasks is fixed, so this is as deterministic as the rest. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

export const createScheduler = (startMs: number): Scheduler => {
  const heap = createHeap()
  let now = startMs
  let order = 0
  let steps = 0

  const at = (timeMs: number, run: () => void) => {
    const event: Event = { timeMs: Math.max(timeMs, now), order: order++, run, cancelled: false }
    heap.push(event)
    return () => {
      event.cancelled = true
    }
  }

  const runNext = async () => {
    const event = heap.pop()
    if (!event) return false
    if (event.cancelled) return true
    now = Math.max(now, event.timeMs)
    steps++
    event.run()
    await settle()
    return true
  }

  return {
    nowMs: () => now,
    at,
    after: (delayMs, run) => at(now + delayMs, run),
    // What was begun outside of an event makes its first calls before time moves on.
    step: async () => {
      await settle()
      return runNext()
    },
    runUntil: async (timeMs) => {
      await settle()
      for (let next = heap.peek(); next && next.timeMs <= timeMs; next = heap.peek()) await runNext()
      now = Math.max(now, timeMs)
    },
    get steps() {
      return steps
    },
  }
}
