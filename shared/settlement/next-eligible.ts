import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { entryPages } from '../journal/read-entries.ts'
import { OpenRowSchema } from '../posting/assume-fee.ts'
import { addMs, DAY_MS, later } from '../time.ts'
import { ELIGIBLE_AGE_MS } from './settlement.ts'

/**
 * When the next money of a client becomes eligible, and whether the provider must settle it first.
 * Undefined without open money. A posted payment waits for its day at most.
 */
export async function nextEligible(
  deps: Pick<Deps, 'table' | 'stage' | 'now'>,
  clientId: ClientId,
) {
  const now = deps.now()
  const span = { start: addMs(now, 1), end: addMs(now, 2 * DAY_MS) }
  for await (const { entries } of entryPages(deps, { clientId, span, limit: 1 })) {
    const [entry] = entries
    if (entry) return { at: entry.eligibleAt, isSettled: true }
  }
  const { items } = await deps.table.query({ index: 'by-open', partition: [clientId], limit: 1 })
  const open = ifValid(OpenRowSchema, items[0])
  return open && { at: later(now, addMs(open.openAt, ELIGIBLE_AGE_MS)), isSettled: false }
}
