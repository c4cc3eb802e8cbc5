import type { World } from './world.ts'

/** Moves the world until a promise of it is settled, and answers what it came to. */
export const drive = async <T>(world: World, promise: Promise<T>): Promise<T> => {
  const progress = { settled: false }
  const end = () => {
    progress.settled = true
  }
  promise.then(end, end)
  while (!progress.settled && (await world.scheduler.step()));
  return promise
}

/** Resolves when so much simulated time is over. */
export const passed = ({ scheduler }: World, ms: number): Promise<void> =>
  new Promise((resolve) => void scheduler.after(ms, resolve))

/** The same up to a time; at once where it is over. */
export const passedUntil = (world: World, ms: number): Promise<void> => passed(world, ms - world.scheduler.nowMs())
