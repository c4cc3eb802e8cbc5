import * as v from 'valibot'
import { EventIdSchema, PaymentIdSchema } from '../ids.ts'
import { CURSOR_JSON, encodeCursor } from '../page.ts'
import { END_OF_TIME, type Timestamp, TimestampSchema } from '../time.ts'
import { EventNameSchema, type EventPosition } from './event.ts'

/** Between two events: behind one of them, or before all that fired at or after a time. */
export type FeedPosition = EventPosition | { readonly since: Timestamp }

/** A time further away would be outside of every range that is read. */
const Time = v.pipe(
  TimestampSchema,
  v.check((time) => time <= END_OF_TIME),
)

/** Whose events they are is not in it: a cursor must not lead into another client's. */
const CursorSchema = v.pipe(
  CURSOR_JSON,
  v.union([
    v.strictObject({
      event_id: EventIdSchema,
      payment_id: PaymentIdSchema,
      name: EventNameSchema,
      fired_at: Time,
    }),
    v.strictObject({ since: Time }),
  ]),
)

/** A position as text that callers hand back unread. */
export const eventCursorOf = (position: FeedPosition): string => {
  if ('since' in position) return encodeCursor({ since: position.since })
  const { eventId, paymentId, name, firedAt } = position
  return encodeCursor({ event_id: eventId, payment_id: paymentId, name, fired_at: firedAt })
}

/** The position that a text says; undefined when it is no cursor of ours. */
export const parseEventCursor = (text: string): FeedPosition | undefined => {
  const parsed = v.safeParse(CursorSchema, text)
  if (!parsed.success) return undefined
  if ('since' in parsed.output) return parsed.output
  const { event_id: eventId, payment_id: paymentId, name, fired_at: firedAt } = parsed.output
  return { eventId, paymentId, name, firedAt }
}
