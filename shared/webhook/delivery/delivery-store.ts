import * as v from 'valibot'
import type { Deps, TableDeps } from '../../deps.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { type DeliveryId, deliveryIdFor, type EventId, type PaymentId } from '../../ids.ts'
import type { QueueMessage } from '../../queues.ts'
import { attemptSkPrefix, deliveryKey } from '../../table/keys.ts'
import {
  all,
  any,
  type Condition,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  isNew,
  put,
  type Step,
  update,
} from '../../table/step.ts'
import { addMs, expiresAfter, HOUR_MS, MINUTE_MS, type Timestamp } from '../../time.ts'
import type { Endpoint, Lane } from '../endpoint/endpoint.ts'
import {
  type Delivery,
  type DeliveryAttempt,
  DeliveryAttemptSchema,
  DeliverySchema,
  type DeliveryStatus,
} from './delivery.ts'

/** The second part of the lists' keys; the first is the endpoint's id. */
export const DELIVERY_ENTITY = 'delivery'

export const SCHEDULE_FIELDS = ['nextAttemptAt', 'resends', ...DUE_WORK_FIELDS] as const
/** The status of a row that no list of a status shows. A failure or an overdue attempt moves it to `status`. */
export const UNLISTED_FIELD = 'state'
export const CLAIM_FIELDS = ['claimToken', 'claimedUntil'] as const

export type Announced = {
  readonly eventId: EventId
  readonly eventName: string
  /** Only for a test; other deliveries send their event's bytes. */
  readonly body?: string
  readonly firedAt: Timestamp
  /** The event's key; absent when there is none, as for a test. */
  readonly paymentId?: PaymentId
}

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
    ? { status: 'scheduled', nextAttemptAt: now, dueAt: addMs(now, overdueAfterMs(0)), unlisted: true }
    : { status: 'skipped' }),
})

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

/** How long due work waits before it sends an attempt's message again: doubled, so that no outage fills the queue. */
export const overdueAfterMs = (resends: number): number =>
  Math.min(OVERDUE_AFTER_MS * 2 ** Math.min(resends, 10), LONGEST_OVERDUE_MS)

/** Claims due work by moving its due time forward. False when another worker has claimed it, or it is done. */
export const postponeDelivery = async (
  deps: TableDeps,
  delivery: Delivery,
  dueAt: Timestamp,
  resends: number | undefined,
): Promise<boolean> => {
  const { applied } = await deps.table.write(
    update(
      deliveryKey(delivery.deliveryId),
      // Overdue deliveries are listed, because operators look for them.
      { set: { dueAt, resends, status: delivery.status }, remove: [UNLISTED_FIELD] },
      all(isStatus(delivery.status), equals('dueAt', delivery.dueAt)),
    ),
  )
  return applied
}

/** Removes a published alert from due work. Refused after a new round has begun, because the round is due work too. */
export const endAlert = ({ deliveryId, attempts }: Delivery): Step =>
  update(
    deliveryKey(deliveryId),
    { remove: DUE_WORK_FIELDS },
    all(equals('status', 'abandoned'), equals('attempts', attempts)),
  )

const SHOWN_ATTEMPTS = 100

/**
 * The newest attempts of a delivery, oldest first. A first attempt that succeeded is stored in the delivery; all others
 * have rows of their own.
 */
export const attemptsOf = async (
  deps: TableDeps,
  { deliveryId, attempts, success }: Delivery,
  most = SHOWN_ATTEMPTS,
): Promise<readonly DeliveryAttempt[]> => {
  const held = success ? [success] : []
  if (attempts <= held.length) return held
  return [...held, ...(await listAttempts(deps, deliveryId, most))].slice(-most)
}

/** The newest attempts of a delivery that have rows of their own, oldest first. */
export const listAttempts = async (
  deps: TableDeps,
  deliveryId: DeliveryId,
  most = SHOWN_ATTEMPTS,
): Promise<readonly DeliveryAttempt[]> => {
  const { items } = await deps.table.query({
    partition: [deliveryKey(deliveryId).pk],
    range: { beginsWith: attemptSkPrefix },
    limit: Math.min(most, SHOWN_ATTEMPTS),
    newestFirst: true,
  })
  return items.map((item) => v.parse(DeliveryAttemptSchema, item)).toReversed()
}

/** The message of the next attempt. It names the slow lane, so that no worker sends it there again. */
const messageOf = (
  { deliveryId, clientId, endpointId, attempts }: Delivery,
  lane: Lane,
  delaySeconds: number,
): QueueMessage => ({
  body: {
    delivery_id: deliveryId,
    attempt: attempts + 1,
    client_id: clientId,
    endpoint_id: endpointId,
    ...(lane === 'slow' && { slow: true }),
  },
  delaySeconds,
  group: endpointId,
})

const send = (deps: Pick<Deps, 'queues'>, lane: Lane, messages: readonly QueueMessage[]): Promise<void> =>
  lane === 'slow' ? deps.queues.send('webhooks-slow', ...messages) : deps.queues.send('webhooks', ...messages)

export const sendDeliveryMessage = (
  deps: Pick<Deps, 'queues'>,
  delivery: Delivery,
  lane: Lane,
  delaySeconds: number,
): Promise<void> => send(deps, lane, [messageOf(delivery, lane, delaySeconds)])

export type InLane = { readonly delivery: Delivery; readonly lane: Lane }

export const sendDeliveryMessages = async (
  deps: Pick<Deps, 'queues'>,
  deliveries: readonly InLane[],
): Promise<void> => {
  const messages = (wanted: Lane) =>
    deliveries.flatMap(({ delivery, lane }) => (lane === wanted ? [messageOf(delivery, lane, 0)] : []))
  const lanes = (['normal', 'slow'] as const).filter((lane) => messages(lane).length > 0)
  await Promise.all(lanes.map((lane) => send(deps, lane, messages(lane))))
}
