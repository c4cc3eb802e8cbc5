import type { Event } from '../../event/event.ts'
import { deliveryIdFor, type EventId, type PaymentId } from '../../ids.ts'
import { addMs, type Timestamp } from '../../time.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import type { Delivery } from './delivery.ts'
import { overdueAfterMs } from './retry-schedule.ts'

export type Announced = {
  readonly eventId: EventId
  readonly eventName: string
  /** Of a test alone: the bytes of all others are their event's. */
  readonly body?: string
  readonly firedAt: Timestamp
  /** Where the event is to be found; absent when there is none, as of a test. */
  readonly paymentId?: PaymentId
}

/** What is announced of an event. */
export const announced = ({ eventId, name, firedAt, paymentId }: Event): Announced => ({
  eventId,
  eventName: name,
  firedAt,
  paymentId,
})

/**
 * The one delivery of an event to an endpoint: its id is derived, so making it again makes the same. Due at once; for
 * a disabled endpoint it is born `skipped`, so that an operator can see and redeliver what was not sent. The
 * body stays in the event; a test has no event and keeps its own. A delivery is listed by its status only after
 * something went wrong with it.
 */
export const newDelivery = (event: Announced, endpoint: Endpoint, now: Timestamp): Delivery => ({
  deliveryId: deliveryIdFor(event.eventId, endpoint.endpointId),
  ...event,
  clientId: endpoint.clientId,
  endpointId: endpoint.endpointId,
  url: endpoint.url,
  attempts: 0,
  roundStart: 0,
  createdAt: now,
  resends: 0,
  ...(endpoint.enabled
    ? {
        status: 'scheduled',
        nextAttemptAt: now,
        dueAt: addMs(now, overdueAfterMs(0)),
        unlisted: true,
      }
    : { status: 'skipped' }),
})
