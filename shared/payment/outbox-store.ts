import * as v from 'valibot'
import type { EventType } from '../event/event.ts'
import { EventIdSchema } from '../ids.ts'
import type { PaymentStatus } from '../payment-status.ts'
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

/**
 * The outbox row of a transition, to ride in its transaction; none for a status without an event. Its key allows one
 * event per payment and type. It stays due until it has been fanned out, so a lost stream record loses nothing.
 */
export const putEvent = (payment: Payment, eventId: string, firedAt: Timestamp): Step | undefined => {
  const type = EVENT_OF[payment.status]
  if (type === undefined) return undefined
  const id = v.parse(EventIdSchema, eventId)
  return put(
    eventKey(payment.paymentId, type),
    {
      // All else of an event is in its keys and in its places in the indexes.
      body: envelopeBody(type, id, firedAt, toWebhookData(payment)),
      owner: ownerOf(payment.clientId, payment.part),
      entity: 'event',
      listedAt: firedAt,
      id,
      ...dueWork('event', id, addMs(firedAt, FAN_OUT_OVERDUE_MS)),
    },
    isNew,
  )
}
