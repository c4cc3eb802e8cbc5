import * as v from 'valibot'
import { EventIdSchema, EventSubjectSchema } from '../ids.ts'
import { CursorTime, encodeCursor, readCursor } from '../page.ts'
import { FromItem, toItem } from '../table/attributes.ts'
import type { Timestamp } from '../time.ts'
import { EventNameSchema, type EventPosition } from './event.ts'

export type FeedPosition =
  | EventPosition
  | (Pick<EventPosition, 'firedAt'> & { readonly eventId?: undefined })

/** A cursor names no client, because it must not lead to another client's events. */
const EventPositionText = v.pipe(
  FromItem,
  v.strictObject({
    eventId: EventIdSchema,
    subject: EventSubjectSchema,
    name: EventNameSchema,
    firedAt: CursorTime,
  }),
)
const FeedPositionText = v.union([
  EventPositionText,
  v.pipe(FromItem, v.strictObject({ firedAt: CursorTime })),
])

/**
 * How far a reader of the feed is (design section 8). `settled`: no event can appear before this
 * position any more. `young`: after the last event that was shown. `settled` is never after
 * `young`.
 */
const FeedCursorText = v.pipe(
  v.strictObject({ settled: FeedPositionText, young: FeedPositionText }),
  v.check(({ settled, young }) => !isAfter(settled, young)),
)
export type FeedCursor = v.InferOutput<typeof FeedCursorText>

export function eventCursorOf(position: EventPosition): string {
  return encodeCursor(toItem(position))
}

export function isAfter(a: FeedPosition, b: FeedPosition): boolean {
  return sortKey(a) > sortKey(b)
}

function sortKey({ firedAt, eventId }: FeedPosition) {
  return `${firedAt} ${eventId ?? ''}`
}

export function readEventCursor(
  cursor: string | undefined,
  since: Timestamp,
): EventPosition | undefined {
  const isListed = v.check(({ firedAt }: EventPosition) => firedAt >= since)
  return readCursor(v.pipe(EventPositionText, isListed), cursor)
}

export function feedCursorOf({ settled, young }: FeedCursor): string {
  return encodeCursor({ settled: toItem(settled), young: toItem(young) })
}

export function readFeedCursor(after: string | undefined): FeedCursor | undefined {
  return readCursor(FeedCursorText, after, 'after')
}
