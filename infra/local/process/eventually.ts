import { setTimeout as sleep } from 'node:timers/promises'

/** Polls in real time. Throws with the text `failure` after the timeout. */
export async function eventually<T>(
  failure: string,
  find: () => Promise<T | undefined>,
  {
    withinMs = 120_000,
    everyMs = 100,
  }: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(everyMs)) {
    const found = await find()
    if (found !== undefined) return found
  }
  throw new Error(`${failure} within ${withinMs / 1_000} s`)
}
