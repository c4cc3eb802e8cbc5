import type { Deps } from '../deps.ts'
import { absent, any, atMost } from '../table/condition.ts'
import { quotaKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { epochMs, HOUR_MS, SECOND_MS, type Timestamp } from '../time.ts'
import type { ProviderOperation } from './provider.ts'
import { pausedUntil } from './provider-pause.ts'
import { callsPerMinute, quotaWindow } from './provider-quota.ts'

/** `retryAt`: when the rest of what was wanted can be asked for; undefined when all of it was granted. */
export type CallsTaken = { readonly granted: number; readonly retryAt: Timestamp | undefined }

/** Long enough that no clock skew between environments can lose a counter that is still in use. */
const COUNTER_LIFE_MS = HOUR_MS
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
  const { number, limit, endsAt } = quotaWindow(callsPerMinute(deps.stage, now), now)
  let portion = Math.min(wanted, limit)
  for (let tried = 0; tried < MAX_TRIES && portion > 0; tried++) {
    const ttl = Math.ceil((epochMs(endsAt) + COUNTER_LIFE_MS) / SECOND_MS)
    const { applied, item } = await deps.table.write(
      update(
        quotaKey(operation, number),
        { add: { taken: portion }, set: { ttl } },
        any(absent('taken'), atMost('taken', limit - portion)),
      ),
    )
    if (applied) return { granted: portion, retryAt: portion < wanted ? endsAt : undefined }
    portion = Math.min(portion, limit - Number(item?.['taken'] ?? limit))
  }
  return { granted: 0, retryAt: endsAt }
}
