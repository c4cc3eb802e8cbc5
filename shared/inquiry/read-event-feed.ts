import type { StoreDeps } from '../deps.ts'
import { type Event, RETENTION } from '../event/event.ts'
import { type FeedCursor, type FeedPosition, feedCursorOf, isAfter } from '../event/event-cursor.ts'
import { findEvents, listEventPositions } from '../event/read-events.ts'
import type { ClientId } from '../ids.ts'
import { readParts } from '../ledger/window-store.ts'
import { addMs, END_OF_TIME, earlier, MINUTE_MS, msBetween, type Timestamp } from '../time.ts'

/**
 * The age from which `settled` may pass an event: by then every earlier event is in the index. A commit is tried with
 * its time for 5 s (`announcementOf`). Its last try takes 17 s: four requests of 4 s, and pauses. The index may lag 90
 * s, and the clocks of writer and reader may each be 10 s off: 132 s together. A client's new part needs only 60 s.
 */
const HOLD_BACK_MS = 5 * MINUTE_MS

/** A function may answer 6 MB, in which every quotation mark and backslash counts twice. */
const PAGE_BYTES = 2_500_000

/** Oldest first. */
type EventFeed = {
  readonly events: readonly Event[]
  readonly next: FeedCursor
  readonly hasMore: boolean
}

type Reading = {
  readonly clientId: ClientId
  readonly from: FeedCursor | undefined
  readonly limit: number
}

/** A page of the last 90 days (design section 8). By `next` an event comes at once, a young one again once settled. */
export async function readEventFeed(
  deps: StoreDeps,
  { clientId, from, limit }: Reading,
): Promise<EventFeed> {
  const now = deps.now()
  const oldest = { firedAt: addMs(now, -RETENTION.feedMs) }
  const latest = (position: FeedPosition = oldest) =>
    isAfter(position, oldest) ? position : oldest
  const at = { settled: latest(from?.settled), young: latest(from?.young) }
  const heldBack = addMs(now, -HOLD_BACK_MS)
  const asked = { clientId, parts: await readParts(deps, clientId), limit: limit + 1 }
  // Two tracks, each one row longer than a page: events shown again, and new events.
  const [settling, fresh] = await Promise.all([
    readSettling(deps, asked, at, heldBack),
    listEventPositions(deps, {
      ...asked,
      between: [at.young.firedAt, END_OF_TIME],
      after: eventAt(at.young),
    }),
  ])
  // The track with the larger lag comes first.
  const settledLags = msBetween(at.settled.firedAt, heldBack) > msBetween(at.young.firedAt, now)
  const served = (settledLags ? [...settling, ...fresh] : [...fresh, ...settling]).slice(0, limit)
  const found = await findEvents(deps, served)
  const shown = new Map(
    served.slice(0, roomFor(found)).map((position, index) => [position, found[index]]),
  )
  const [again, first] = [settling, fresh].map((track) =>
    track.filter((position) => shown.has(position)),
  )
  const young = first?.at(-1) ?? at.young
  const isSettled = again?.length === settling.length
  return {
    events: [...(again ?? []), ...(first ?? [])].flatMap((position) => shown.get(position) ?? []),
    next: {
      settled: isSettled ? settledBy(at, young, heldBack) : (again?.at(-1) ?? at.settled),
      young,
    },
    hasMore: shown.size < settling.length + fresh.length,
  }
}

type Asked = { readonly clientId: ClientId; readonly parts: number; readonly limit: number }

async function readSettling(
  deps: StoreDeps,
  asked: Asked,
  { settled, young }: FeedCursor,
  heldBack: Timestamp,
) {
  const until = earlier(young.firedAt, heldBack)
  if (!isAfter(young, settled) || settled.firedAt > until) return []
  const between = [settled.firedAt, until] as const
  const positions = await listEventPositions(deps, { ...asked, between, after: eventAt(settled) })
  return positions.filter((position) => !isAfter(position, young))
}

function eventAt(position: FeedPosition) {
  return position.eventId === undefined ? undefined : position
}

/** The number of leading events that fit into one answer. One always does: an item has at most 400 KB. */
function roomFor(events: readonly (Event | undefined)[]): number {
  let bytes = 0
  for (const [at, event] of events.entries()) {
    bytes += Buffer.byteLength(event?.body ?? '')
    if (bytes > PAGE_BYTES) return at
  }
  return events.length
}

/** The settled position after all of the first track is shown. It never goes back. */
function settledBy(
  { settled }: FeedCursor,
  young: FeedPosition,
  heldBack: Timestamp,
): FeedPosition {
  const border = { firedAt: addMs(heldBack, 1) }
  const reached = isAfter(young, border) ? border : young
  return isAfter(reached, settled) ? reached : settled
}

/** Each envelope has exactly the bytes of the webhook, including digits and key order. */
export function toEventFeedJson({ events, next, hasMore }: EventFeed): string {
  const data = events.map(({ body }) => body).join(',')
  return `{"data":[${data}],"next":${JSON.stringify(feedCursorOf(next))},"has_more":${hasMore}}`
}
