import { ifValid } from '../../../shared/if-valid.ts'
import { HeadSchema } from '../../../shared/sync/job-store.ts'
import { type Key, syncJobKey, verdictKey } from '../../../shared/table/keys.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { equals, update } from '../../../shared/table/step.ts'
import type { Table } from '../../../shared/table/table.ts'
import { addMs, DAY_MS, timestampOf } from '../../../shared/time.ts'

type RestoredTable = Pick<Table, 'write'> & { readonly get: (key: Key) => Promise<unknown> }

/**
 * From now on the payout gate waits for audits of the restored table (design section 11). An audit
 * that was under way ends: audit-ledger begins a new one.
 */
export function noteRestore({ write }: RestoredTable) {
  const now = Date.now()
  // The found version may be no number. No audit has read this one.
  const set = { restoredAt: timestampOf(now), version: now }
  return write(update(verdictKey(GATEWAY_OWNER), { set, remove: ['progress'] }))
}

/**
 * A day, because the table may have the head of a round without its slices or effects. A run that
 * has read the head before can no longer move it.
 */
export async function setSyncBack({ get, write }: RestoredTable) {
  const key = syncJobKey('head')
  const head = ifValid(HeadSchema, await get(key))
  if (!head) return
  const set = {
    position: addMs(head.position, -DAY_MS),
    reversalsAt: addMs(head.reversalsAt, -DAY_MS),
    round: head.round + 1,
  }
  const { applied } = await write(update(key, { set }, equals('round', head.round)))
  if (!applied) throw new Error('a run of the sync moved the head: try again')
}
