import type { StoreDeps } from '../deps.ts'
import { type Event, RETENTION } from '../event/event.ts'
import { type FeedCursor, type FeedPosition, feedCursorOf, isAfter } from '../event/event-cursor.ts'
import { findEvents, listEventPositions } from '../event/read-events.ts'
import type { ClientId } from '../ids.ts'
import { addMs, END_OF_TIME, earlier, MINUTE_MS, msBetween, type Timestamp } from '../time.ts'

/**
 * The age from which `settled` may pass an event. By then every earlier event is in the index. A
 * commit is tried with its event's time for 5 s (`announcementOf`). The last try takes 17 s: four
 * requests of 4 s, and pauses. The index may lag 90 s, and the clocks of writer and reader may each
 * be 10 s off: 132 s together.
 */
const HOLD_BACK_MS = 5 * MINUTE_MS

/** A function may answer 6 MB, in which every quotation mark and backslash counts twice. */
const PAGE_BYTES = 2_500_000

type EventFeed = {
  /** Oldest first. */
  readonly events: readonly Event[]
  readonly next: FeedCursor
  readonly hasMore: boolean
}

type FeedRequest = {
  readonly clientId: ClientId
  readonly from: FeedCursor | undefined
  readonly limit: number
}

/**
 * A page of the last 90 days (design section 8). A reader gets each event at once, and a young
 * event again when settled.
 */
export async function readEventFeed(
  deps: StoreDeps,
  { clientId, from, limit }: FeedRequest,
): Promise<EventFeed> {
  const now = deps.now()
  const oldest = { firedAt: addMs(now, -RETENTION.feedMs) }
  const latest = (position: FeedPosition = oldest) =>
    isAfter(position, oldest) ? position : oldest
  const cursor = { settled: latest(from?.settled), young: latest(from?.young) }
  const heldBack = addMs(now, -HOLD_BACK_MS)
  const query = { clientId, limit: limit + 1 }
  // Two tracks, each one row longer than a page: repeated events, and new events.
  const [settling, fresh] = await Promise.all([
    readSettlingPositions(deps, query, cursor, heldBack),
    listEventPositions(deps, {
      ...query,
      between: [cursor.young.firedAt, END_OF_TIME],
      after: resumePosition(cursor.young),
    }),
  ])
  // The track with the larger lag comes first.
  const settledLags =
    msBetween(cursor.settled.firedAt, heldBack) > msBetween(cursor.young.firedAt, now)
  const positions = (settledLags ? [...settling, ...fresh] : [...fresh, ...settling]).slice(
    0,
    limit,
  )
  const events = await findEvents(deps, clientId, positions)
  const shown = new Map(
    positions.slice(0, fittingCount(events)).map((position, index) => [position, events[index]]),
  )
  const [repeated = [], first = []] = [settling, fresh].map((track) =>
    track.filter((position) => shown.has(position)),
  )
  const young = first.at(-1) ?? cursor.young
  const isSettled = repeated.length === settling.length
  return {
    events: [...repeated, ...first].flatMap((position) => shown.get(position) ?? []),
    next: {
      settled: isSettled
        ? settledPosition(cursor, young, heldBack)
        : (repeated.at(-1) ?? cursor.settled),
      young,
    },
    hasMore: shown.size < settling.length + fresh.length,
  }
}

async function readSettlingPositions(
  deps: StoreDeps,
  query: Omit<FeedRequest, 'from'>,
  { settled, young }: FeedCursor,
  heldBack: Timestamp,
) {
  const until = earlier(young.firedAt, heldBack)
  if (!isAfter(young, settled) || settled.firedAt > until) return []
  const between = [settled.firedAt, until] as const
  const positions = await listEventPositions(deps, {
    ...query,
    between,
    after: resumePosition(settled),
  })
  return positions.filter((position) => !isAfter(position, young))
}

function resumePosition(position: FeedPosition) {
  return position.eventId === undefined ? undefined : position
}

/** One event always fits. */
function fittingCount(events: readonly (Event | undefined)[]) {
  let bytes = 0
  for (const [at, event] of events.entries()) {
    bytes += Buffer.byteLength(event?.body ?? '')
    if (bytes > PAGE_BYTES) return at
  }
  return events.length
}

/** The settled position after the whole first track is shown. The position never goes back. */
function settledPosition(
  { settled }: FeedCursor,
  young: FeedPosition,
  heldBack: Timestamp,
): FeedPosition {
  const border = { firedAt: addMs(heldBack, 1) }
  const next = isAfter(young, border) ? border : young
  return isAfter(next, settled) ? next : settled
}

/** Each envelope has exactly the bytes of the webhook, including digits and key order. */
export function toEventFeedJson({ events, next, hasMore }: EventFeed): string {
  const data = events.map(({ body }) => body).join(',')
  return `{"data":[${data}],"next":${JSON.stringify(feedCursorOf(next))},"has_more":${hasMore}}`
}
