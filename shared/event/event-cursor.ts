import * as v from 'valibot'
import { EventIdSchema, PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { CURSOR_JSON, CursorTime, encodeCursor } from '../page.ts'
import { FromItem, toItem } from '../table/attributes.ts'
import { EventNameSchema, type EventPosition } from './event.ts'

/** Between two events: after one of them, or before all that fired at or after a time. */
export type FeedPosition = EventPosition | (Pick<EventPosition, 'firedAt'> & { readonly eventId?: undefined })

/** How far a reader of the feed is (design section 8). `settled` is never after `young`. */
export type FeedCursor = {
  /** No event can appear before it any more. */
  readonly settled: FeedPosition
  /** After the last event that was shown. */
  readonly young: FeedPosition
}

/** The cursor does not name the client: it must not lead to another client's events. */
const EventPositionText = v.pipe(
  FromItem,
  v.strictObject({ eventId: EventIdSchema, paymentId: PaymentIdSchema, name: EventNameSchema, firedAt: CursorTime }),
)
const FeedPositionText = v.union([EventPositionText, v.pipe(FromItem, v.strictObject({ firedAt: CursorTime }))])

const EventCursor = v.pipe(CURSOR_JSON, EventPositionText)
const FeedCursorText = v.pipe(
  CURSOR_JSON,
  v.strictObject({ settled: FeedPositionText, young: FeedPositionText }),
  v.check(({ settled, young }) => !isAfter(settled, young)),
)

const sortKey = ({ firedAt, eventId }: FeedPosition): string => `${firedAt} ${eventId ?? ''}`

export const isAfter = (one: FeedPosition, other: FeedPosition): boolean => sortKey(one) > sortKey(other)

export const eventCursorOf = (position: EventPosition): string => encodeCursor(toItem(position))

export const parseEventCursor = (text: string): EventPosition | undefined => ifValid(EventCursor, text)

export const feedCursorOf = ({ settled, young }: FeedCursor): string =>
  encodeCursor({ settled: toItem(settled), young: toItem(young) })

export const parseFeedCursor = (text: string): FeedCursor | undefined => ifValid(FeedCursorText, text)
