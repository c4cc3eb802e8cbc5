import { vi } from 'vitest'

/** Waits until the assertion holds, also long enough for a busy machine. */
export function eventually<Result>(assertion: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(assertion, { timeout: 25_000, interval: 25 })
}
