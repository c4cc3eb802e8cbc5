import { setTimeout as sleep } from 'node:timers/promises'

type Patience = { readonly withinMs?: number; readonly everyMs?: number }

/** Looks again and again until there is something, in real time; throws with `otherwise` when there is nothing in time. */
export const eventually = async <T>(
  otherwise: string,
  look: () => Promise<T | undefined>,
  { withinMs = 30_000, everyMs = 100 }: Patience = {},
): Promise<T> => {
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(everyMs)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`${otherwise} within ${withinMs / 1_000} s`)
}
