import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { absent, any, below } from '../table/condition.ts'
import { rateKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { epochMs, SECOND_MS } from '../time.ts'
import type { Client } from './client.ts'

/** Long enough that no clock skew between environments can lose a counter that is still in use. */
const COUNTER_LIFE_SECONDS = 3_600
const RETRY_AFTER_SECONDS = 1

/**
 * Counts a request of a client that has a limit, in the current second of the wall clock; refuses the one over the
 * limit with 429 `rate_limit` (design section 5). A client without a limit costs no write.
 */
export const enforceRateLimit = async (
  deps: Pick<Deps, 'table' | 'now'>,
  { clientId, rateLimitPerSecond }: Client,
): Promise<void> => {
  if (rateLimitPerSecond === undefined) return
  const second = Math.floor(epochMs(deps.now()) / SECOND_MS)
  const { applied } = await deps.table.write(
    update(
      rateKey(clientId, second),
      { add: { requests: 1 }, set: { ttl: second + COUNTER_LIFE_SECONDS } },
      any(absent('requests'), below('requests', rateLimitPerSecond)),
    ),
  )
  if (applied) return
  throw new GatewayError('rate_limit', `more than ${rateLimitPerSecond} requests in one second`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
