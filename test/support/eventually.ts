import { vi } from 'vitest'
import { PATIENCE_MS } from './patience.ts'

/** The limit only ends a wait for what never comes; it is no promise of speed. */
export function eventually<Result>(assertion: () => Result | Promise<Result>) {
  return vi.waitFor(assertion, { timeout: PATIENCE_MS, interval: 25 })
}
