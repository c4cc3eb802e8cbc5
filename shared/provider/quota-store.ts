import type { TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { quotaKey, quotaShareKey } from '../table/keys.ts'
import { absent, any, atMost, update } from '../table/step.ts'
import { epochMs, expiresAfter, HOUR_MS, MINUTE_MS, SECOND_MS, type Timestamp, timestampOf } from '../time.ts'
import type { ProviderOperation } from './provider.ts'

/**
 * The provider counts by a minute whose start we do not know. Windows of ten seconds limit the calls in one of its
 * minutes to the quota plus a sixth; pauses absorb the rest.
 */
const WINDOW_MS = 10 * SECOND_MS
const WINDOWS = MINUTE_MS / WINDOW_MS

type QuotaWindow = { readonly number: number; readonly limit: number; readonly endsAt: Timestamp }

/** The window of a moment. The limits of a minute's windows add up to exactly the quota. */
export const quotaWindow = (perMinute: number, at: Timestamp): QuotaWindow => {
  const number = Math.floor(epochMs(at) / WINDOW_MS)
  const inMinute = number % WINDOWS
  const limit = Math.floor((perMinute * (inMinute + 1)) / WINDOWS) - Math.floor((perMinute * inMinute) / WINDOWS)
  return { number, limit, endsAt: timestampOf((number + 1) * WINDOW_MS) }
}

/** Longer than any clock skew between environments, so that no counter in use expires. */
const COUNTER_LIFE_MS = HOUR_MS

/** The calls of an operation, or one client's share of them. */
type Counted = { readonly operation: ProviderOperation; readonly clientId?: ClientId }

/** Takes all of `calls` from a window's rest, or none; a refusal answers the present counter. */
export const countCalls = (
  deps: TableDeps,
  { operation, clientId }: Counted,
  { number, limit, endsAt }: QuotaWindow,
  calls: number,
) => {
  const key = clientId === undefined ? quotaKey(operation, number) : quotaShareKey(operation, clientId, number)
  const ttl = expiresAfter(endsAt, COUNTER_LIFE_MS)
  const hasRoom = any(absent('taken'), atMost('taken', limit - calls))
  return deps.table.write(update(key, { add: { taken: calls }, set: { ttl } }, hasRoom))
}
