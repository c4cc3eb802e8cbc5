import * as v from 'valibot'
import type { TableDeps } from '../../deps.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { type DeliveryId, deliveryIdFor, type EventId, type PaymentId } from '../../ids.ts'
import { deliveryKey } from '../../table/keys.ts'
import { any, type Condition, DUE_WORK_FIELDS, dueWork, equals, isNew, put, type Step } from '../../table/step.ts'
import { addMs, expiresAfter, HOUR_MS, MINUTE_MS, type Timestamp } from '../../time.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { type Delivery, DeliverySchema, type DeliveryStatus } from './delivery.ts'

/** The second part of the lists' keys; the first is the endpoint's id. */
export const DELIVERY_ENTITY = 'delivery'

export const SCHEDULE_FIELDS = ['nextAttemptAt', 'resends', ...DUE_WORK_FIELDS] as const
/** The state that keeps a row out of the list of its status. A failure puts the row into that list. */
export const UNLISTED_FIELD = 'state'
export const CLAIM_FIELDS = ['claimToken', 'claimedUntil'] as const

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

/** Reads a delivery, strongly consistent. */
export const findDelivery = async (deps: TableDeps, deliveryId: DeliveryId): Promise<Delivery | undefined> => {
  const item = await deps.table.get(deliveryKey(deliveryId))
  return item && v.parse(DeliverySchema, item)
}

/** Deliveries in the order asked for; missing ones are left out. */
export const findDeliveries = async (deps: TableDeps, ids: readonly DeliveryId[]): Promise<readonly Delivery[]> => {
  const items = await deps.table.getMany(ids.map(deliveryKey))
  return items.flatMap((item) => (item ? [v.parse(DeliverySchema, item)] : []))
}

const itemOf = ({ status, unlisted, ...delivery }: Delivery) => ({
  ...delivery,
  ...(unlisted ? { state: status } : { status }),
  ...(status === 'skipped' && { ttl: expiresAfter(delivery.createdAt, RETENTION.deliveryMs) }),
  owner: delivery.endpointId,
  entity: DELIVERY_ENTITY,
  listedAt: delivery.createdAt,
  id: delivery.deliveryId,
  ...(delivery.dueAt !== undefined && dueWork('delivery', delivery.deliveryId, delivery.dueAt)),
})

/** Writes a delivery together with its new event, whose condition covers both. */
export const putDelivery = (delivery: Delivery): Step => put(deliveryKey(delivery.deliveryId), itemOf(delivery))

/** Writes a new delivery unless it exists already. */
export const insertDelivery = (delivery: Delivery): Step =>
  put(deliveryKey(delivery.deliveryId), itemOf(delivery), isNew)

/** When the next attempt is due, and when due work checks whether its message was lost. */
export const schedule = ({ deliveryId }: Delivery, nextAttemptAt: Timestamp) => ({
  status: 'scheduled',
  nextAttemptAt,
  ...dueWork('delivery', deliveryId, addMs(nextAttemptAt, overdueAfterMs(0))),
})

export const isStatus = (status: DeliveryStatus): Condition =>
  any(equals('status', status), equals(UNLISTED_FIELD, status))

const OVERDUE_AFTER_MS = MINUTE_MS
const LONGEST_OVERDUE_MS = HOUR_MS

/**
 * How long due work waits for an attempt's queue message before it sends another: a minute, doubled after each one
 * without effect, so that a long outage does not fill the queue.
 */
export const overdueAfterMs = (resends: number): number =>
  Math.min(OVERDUE_AFTER_MS * 2 ** Math.min(resends, 10), LONGEST_OVERDUE_MS)
