import type { Deps } from '../deps.ts'
import type { Timestamp } from '../time.ts'
import { pausedUntil } from './pause-store.ts'
import type { ProviderOperation } from './provider.ts'
import { callsPerMinute, quotaWindow } from './provider-quota.ts'
import { countCalls } from './quota-store.ts'

/** `retryAt`: when the rest of what was wanted can be asked for; undefined when all of it was granted. */
export type CallsTaken = { readonly granted: number; readonly retryAt: Timestamp | undefined }

/** Others take from the same counter; whoever keeps losing asks again a little later. */
const MAX_TRIES = 3

/**
 * Takes a portion of the provider's quota for work that nobody waits for (design section 9): up to `wanted` calls of an
 * operation, in one conditional write for all of them. No number of workers gets more than the quota together; what is
 * taken and not used is gone when its ten seconds are over. None while the provider has said "not now" to anybody.
 */
export const takeCalls = async (
  deps: Pick<Deps, 'table' | 'stage' | 'provider' | 'now'>,
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
