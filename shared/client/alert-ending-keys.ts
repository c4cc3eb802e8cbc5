import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { DAY_MS, dayNumber, END_OF_TIME, msBetween } from '../time.ts'
import { listApiKeys } from './api-key-store.ts'

/** Calendar days before a key's end. */
const TOLD_DAYS = [30, 7, 1]
/** A key of a shorter life was meant to end. */
const LONG_MS = 60 * DAY_MS

/**
 * Warns operators of a client's keys that end soon: from then on the merchant's requests get 401.
 */
export async function alertEndingKeys(
  deps: Pick<Deps, 'table' | 'alerts' | 'now'>,
  clientId: ClientId,
) {
  const { rows } = await listApiKeys(deps, clientId, { page: 1, perPage: 1_000 })
  const today = dayNumber(deps.now())
  for (const { prefix, createdAt, expiresAt = END_OF_TIME, revokedAt } of rows) {
    const isLong = msBetween(createdAt, expiresAt) >= LONG_MS
    if (revokedAt || !isLong || !TOLD_DAYS.includes(dayNumber(expiresAt) - today)) continue
    await deps.alerts.publish({
      kind: 'client.key_ends',
      subject: clientId,
      message: `The API key ${prefix}… of client ${clientId} ends at ${expiresAt}; its requests will get 401. Issue a new key with issue-api-key, and let the merchant change to it.`,
    })
  }
}
