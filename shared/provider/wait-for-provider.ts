import type { Deps } from '../deps.ts'
import type { ProviderOperation } from './provider.ts'

/**
 * Waits until the provider accepts these operations again. False when that is after the deadline; the caller then
 * leaves the rest to a later run.
 */
export const waitForProvider = async (
  deps: Pick<Deps, 'provider' | 'sleep' | 'monotonicMs'>,
  operations: readonly ProviderOperation[],
  deadlineMs: number,
): Promise<boolean> => {
  const pauseMs = Math.max(...operations.map((operation) => deps.provider.pauseMs(operation)))
  if (pauseMs <= 0) return true
  if (deps.monotonicMs() + pauseMs >= deadlineMs) return false
  await deps.sleep(pauseMs)
  return true
}
