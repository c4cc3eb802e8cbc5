import { vi } from 'vitest'

/** Waits until the assertion holds: at once on an idle machine, and long enough on one that has much else to do. */
export function eventually<Result>(assertion: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(assertion, { timeout: 25_000, interval: 25 })
}
