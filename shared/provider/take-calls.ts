import type { Deps } from '../deps.ts'
import type { Timestamp } from '../time.ts'
import { pausedUntil } from './pause-store.ts'
import type { ProviderOperation } from './provider.ts'
import { callsPerMinute, quotaWindow } from './provider-quota.ts'
import { countCalls } from './quota-store.ts'

/** `retryAt`: when the caller can take the rest; undefined if all wanted calls were granted. */
export type CallsTaken = { readonly granted: number; readonly retryAt: Timestamp | undefined }

/** A caller that loses more races for the counter tries again in the next window. */
const MAX_TRIES = 3

/**
 * Takes up to `wanted` calls of the quota for background work, in one conditional write (design section 9). All workers
 * together never take more than the quota. Unused calls expire with their ten-second window. During a pause the answer
 * is none.
 */
export const takeCalls = async (
  deps: Pick<Deps, 'table' | 'stage' | 'provider' | 'now' | 'memory'>,
  operation: ProviderOperation,
  wanted: number,
): Promise<CallsTaken> => {
  const pause = await pausedUntil(deps, [operation])
  if (pause !== undefined) return { granted: 0, retryAt: pause }
  const now = deps.now()
  const window = quotaWindow(callsPerMinute(deps.stage, now), now)
  const { limit, endsAt } = window
  let portion = Math.min(wanted, limit)
  for (let tried = 0; tried < MAX_TRIES && portion > 0; tried++) {
    const { applied, item } = await countCalls(deps, operation, window, portion)
    if (applied) return { granted: portion, retryAt: portion < wanted ? endsAt : undefined }
    portion = Math.min(portion, limit - Number(item?.['taken'] ?? limit))
  }
  return { granted: 0, retryAt: endsAt }
}
