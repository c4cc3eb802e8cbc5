import { deliveryIdFor, type EventId } from '../../ids.ts'
import { addMs, type Timestamp } from '../../time.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import type { Delivery } from './delivery.ts'
import { overdueAfterMs } from './retry-schedule.ts'

export type Announcement = {
  readonly eventId: EventId
  readonly eventType: string
  readonly body: string
  readonly firedAt: Timestamp
}

/**
 * The one delivery of an event to an endpoint: its id is derived, so making it again makes the same. Due at once; for
 * a disabled endpoint it is born `skipped`, so that an operator can see and redeliver what was not sent.
 */
export const newDelivery = (announcement: Announcement, endpoint: Endpoint, now: Timestamp): Delivery => ({
  deliveryId: deliveryIdFor(announcement.eventId, endpoint.endpointId),
  eventId: announcement.eventId,
  eventType: announcement.eventType,
  clientId: endpoint.clientId,
  endpointId: endpoint.endpointId,
  url: endpoint.url,
  attempts: 0,
  roundStart: 0,
  body: announcement.body,
  createdAt: now,
  firedAt: announcement.firedAt,
  resends: 0,
  ...(endpoint.enabled
    ? { status: 'scheduled', nextAttemptAt: now, dueAt: addMs(now, overdueAfterMs(0)) }
    : { status: 'skipped' }),
})
