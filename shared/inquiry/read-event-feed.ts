import type { StoreDeps } from '../deps.ts'
import type { Event } from '../event/event.ts'
import type { FeedPosition } from '../event/event-cursor.ts'
import { findEvents, listEventPositions } from '../event/event-store.ts'
import { RETENTION } from '../event/retention.ts'
import type { ClientId } from '../ids.ts'
import { readParts } from '../ledger/window-store.ts'
import { addMs, later, MINUTE_MS } from '../time.ts'

/**
 * How old an event is before a reader may pass it: by then everything that fired before it is in the index. A commit is
 * tried with its time for 5 s (`announcementOf`), its last try takes 17 s (four requests of 4 s, and pauses), the index
 * may be 90 s behind, and the clocks of who wrote and who reads may be 10 s off, either way: 132 s. A client's new part
 * is used 60 s after a reader can know it, which is less.
 */
const HOLD_BACK_MS = 5 * MINUTE_MS

/** Of a page: a function may answer 6 MB, in which every quotation mark and backslash of these counts twice. */
const PAGE_BYTES = 2_500_000

/** How many, from the first on, have room in one answer. */
const roomFor = (events: readonly (Event | undefined)[]): number => {
  let bytes = 0
  for (const [at, event] of events.entries()) {
    bytes += Buffer.byteLength(event?.body ?? '')
    if (at > 0 && bytes > PAGE_BYTES) return at
  }
  return events.length
}

export type EventFeed = {
  /** Oldest first, young ones too. */
  readonly events: readonly Event[]
  /** Behind the last one that no late one can come before. */
  readonly next: FeedPosition
  /** There are more that `next` can pass. */
  readonly hasMore: boolean
}

type Reading = { readonly clientId: ClientId; readonly from: FeedPosition | undefined; readonly limit: number }

/**
 * A page of what a client was told in the last 90 days. Whoever follows `next` is shown every event at least once: young
 * ones at once, and again until nothing can come before them. Changes nothing.
 */
export const readEventFeed = async (deps: StoreDeps, { clientId, from, limit }: Reading): Promise<EventFeed> => {
  const now = deps.now()
  const oldest = addMs(now, -RETENTION.feedMs)
  const passable = addMs(now, -HOLD_BACK_MS)
  const after = from && 'eventId' in from && from.firedAt >= oldest ? from : undefined
  const since = after?.firedAt ?? later(from && 'since' in from ? from.since : oldest, oldest)
  const parts = await readParts(deps, clientId)
  const found = await listEventPositions(deps, { clientId, parts, since, limit: limit + 1, after })
  const events = await findEvents(deps, found.slice(0, limit))
  const room = roomFor(events)
  const further = found[room]
  return {
    events: events.slice(0, room).filter((event) => event !== undefined),
    next: found.slice(0, room).findLast(({ firedAt }) => firedAt <= passable) ?? after ?? { since },
    hasMore: further !== undefined && further.firedAt <= passable,
  }
}
