import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { epochMs, MINUTE_MS, SECOND_MS, timestampOf } from '../time.ts'
import type { ProviderOperation } from './provider.ts'
import { callsPerMinute } from './provider-quota.ts'
import { countClientCall } from './quota-store.ts'

/** An operation is scarce below this part of a minute's calls, by the last answer in this environment. */
const SCARCE_BELOW = 1 / 2
/** One client's part of a minute's calls of a scarce operation. */
const SHARE = 1 / 4

/** `taken`: the call may be made. Otherwise the seconds until the next minute. */
export type ShareTaken = { readonly taken: true } | { readonly taken: false; readonly retryAfterSeconds: number }

/**
 * Takes one call of an operation for a waiting client. Nothing is counted while many calls are left. When they become
 * scarce, each client gets at most a quarter of the quota (design section 9). So one client cannot starve the others.
 */
export const takeShare = async (
  deps: Pick<Deps, 'table' | 'stage' | 'provider' | 'now'>,
  operation: ProviderOperation,
  clientId: ClientId,
): Promise<ShareTaken> => {
  const now = deps.now()
  const quota = callsPerMinute(deps.stage, now)
  const left = deps.provider.callsLeft(operation)
  if (left === undefined || left >= quota * SCARCE_BELOW) return { taken: true }
  const minute = Math.floor(epochMs(now) / MINUTE_MS)
  const endMs = (minute + 1) * MINUTE_MS
  const limit = Math.max(1, Math.floor(quota * SHARE))
  const window = { number: minute, limit, endsAt: timestampOf(endMs) }
  const { applied } = await countClientCall(deps, operation, clientId, window)
  if (applied) return { taken: true }
  return { taken: false, retryAfterSeconds: Math.ceil((endMs - epochMs(now)) / SECOND_MS) }
}
