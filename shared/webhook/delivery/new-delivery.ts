import type { Event } from '../../event/event.ts'
import { deliveryIdFor, type EventId, type PaymentId } from '../../ids.ts'
import { addMs, type Timestamp } from '../../time.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import type { Delivery } from './delivery.ts'
import { overdueAfterMs } from './retry-schedule.ts'

export type Announced = {
  readonly eventId: EventId
  readonly eventName: string
  /** Only of a test; other deliveries send their event's bytes. */
  readonly body?: string
  readonly firedAt: Timestamp
  /** The event's key; absent when there is none, as for a test. */
  readonly paymentId?: PaymentId
}

/** The fields of an event that its delivery needs. */
export const announced = ({ eventId, name, firedAt, paymentId }: Event): Announced => ({
  eventId,
  eventName: name,
  firedAt,
  paymentId,
})

/**
 * The one delivery of an event to an endpoint. Its id is derived, so a repeat makes the same one. It is due at once.
 * For a disabled endpoint it starts as `skipped`, so that an operator can see and redeliver it. The event keeps the
 * body; a test has no event and keeps its own. The status lists a delivery only after a failure.
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
