import * as v from 'valibot'
import { assertInvariant } from '../errors.ts'
import type { Event, EventType } from '../event/event.ts'
import { EventIdSchema } from '../ids.ts'
import type { PaymentStatus } from '../payment-status.ts'
import type { StoredRows } from '../stage-settings.ts'
import { isNew } from '../table/condition.ts'
import { dueWork } from '../table/due-work.ts'
import { eventKey, ownerOf } from '../table/keys.ts'
import { put, type Step } from '../table/step.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../time.ts'
import type { Payment } from './payment.ts'
import { toWebhookData } from './payment-dto.ts'

/** How long the stream has before due work fans the event out. */
const FAN_OUT_OVERDUE_MS = 2 * MINUTE_MS

/** The event each status announces. `cancelled` has none: the spec lists three (spec 6.1). */
const EVENT_OF: Readonly<Partial<Record<PaymentStatus, EventType>>> = {
  succeeded: 'payment.succeeded',
  failed: 'payment.failed',
  expired: 'payment.expired',
}

/** The webhook's body (spec 6.2), made once: these bytes are signed and sent by every attempt to every endpoint. */
export const envelopeBody = (event: string, eventId: string, timestamp: Timestamp, data: object): string =>
  JSON.stringify({ event, event_id: eventId, timestamp, data })

const eventFor = (payment: Payment, type: EventType, eventId: string, firedAt: Timestamp): Event => ({
  eventId: v.parse(EventIdSchema, eventId),
  type,
  clientId: payment.clientId,
  paymentId: payment.paymentId,
  firedAt,
  body: envelopeBody(type, eventId, firedAt, toWebhookData(payment)),
  dueAt: addMs(firedAt, FAN_OUT_OVERDUE_MS),
})

/**
 * The outbox row of a transition, to ride in its transaction; none for a status without an event. Its key allows one
 * event per payment and type. It stays due until it has been fanned out, so a lost stream record loses nothing.
 */
export const putEvent = (
  payment: Payment,
  eventId: string,
  firedAt: Timestamp,
  rows: StoredRows = 'complete',
): Step | undefined => {
  const type = EVENT_OF[payment.status]
  if (type === undefined) return undefined
  const event = eventFor(payment, type, eventId, firedAt)
  assertInvariant(event.dueAt !== undefined, 'a new event is due')
  return put(
    eventKey(payment.paymentId, type),
    {
      ...(rows === 'lean' ? { body: event.body } : event),
      owner: ownerOf(payment.clientId, payment.part),
      entity: 'event',
      listedAt: event.firedAt,
      id: event.eventId,
      ...dueWork('event', event.eventId, event.dueAt),
    },
    isNew,
  )
}
