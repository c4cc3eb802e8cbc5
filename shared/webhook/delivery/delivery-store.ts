import * as v from 'valibot'
import type { Deps, ListDeps, TableDeps } from '../../deps.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { type DeliveryId, deliveryIdFor, type EventSubject } from '../../ids.ts'
import { ifValid, readableRows, readRows } from '../../if-valid.ts'
import { toItem } from '../../table/attributes.ts'
import { ATTEMPT_SK_PREFIX, deliveryKey, idOf, testDeliveryKey } from '../../table/keys.ts'
import {
  all,
  any,
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
  DeliveryAttemptSchema,
  DeliverySchema,
  type DeliveryStatus,
} from './delivery.ts'

export const DELIVERY_ENTITY = 'delivery'

export const SCHEDULE_FIELDS = ['nextAttemptAt', 'resends', ...DUE_WORK_FIELDS] as const
/**
 * The attribute with the status of a row that no status list shows: a row without a failure, or one
 * that succeeded. A failure or an overdue attempt moves the value to `status`.
 */
export const UNLISTED = 'state'
export const CLAIM_FIELDS = ['claimToken', 'claimedUntil'] as const

type AnnouncedEvent = Pick<Event, 'eventId' | 'firedAt'> & {
  readonly name: string
  readonly subject?: EventSubject
}

/** Due at once, or `skipped` if the endpoint is disabled. Its id is derived. */
export function newDelivery(
  { eventId, name, firedAt, subject }: AnnouncedEvent,
  {
    endpointId,
    clientId,
    url,
    enabled,
  }: Pick<Endpoint, 'endpointId' | 'clientId' | 'url' | 'enabled'>,
  now: Timestamp,
): Delivery {
  return {
    deliveryId: deliveryIdFor(eventId, endpointId),
    eventId,
    eventName: name,
    firedAt,
    subject,
    clientId,
    endpointId,
    url,
    attempts: 0,
    roundStart: 0,
    createdAt: now,
    resends: 0,
    ...(enabled
      ? {
          status: 'scheduled',
          nextAttemptAt: now,
          dueAt: addMs(now, overdueAfterMs(0)),
          unlisted: true,
        }
      : { status: 'skipped' }),
  }
}

/** Doubles, so that an outage does not fill the queue. */
export function overdueAfterMs(resends: number): number {
  return Math.min(MINUTE_MS * 2 ** resends, HOUR_MS)
}

/** A delivery of an event, or a test delivery. Throws for a row that cannot be read. */
export async function findDelivery(
  deps: TableDeps,
  deliveryId: DeliveryId,
): Promise<Delivery | undefined> {
  return v.parse(v.optional(DeliverySchema), await deliveryItem(deps, deliveryId))
}

export async function deliveryItem(deps: TableDeps, deliveryId: DeliveryId) {
  const keys = [deliveryKey(deliveryId), testDeliveryKey(deliveryId)]
  return (await deps.table.getMany(keys)).find(Boolean)
}

export type NamedDelivery = Pick<Delivery, 'deliveryId' | 'isTest'>

/** Without rows that are missing. The log and the audit too name rows that cannot be read. */
export async function findDeliveries(deps: ListDeps, named: readonly NamedDelivery[]) {
  const items = await deps.table.getMany(named.map(keyOfDelivery))
  const read = readRows(DeliverySchema, items, ({ pk }) => idOf(String(pk)))
  readableRows(deps, 'delivery', read)
  return read
}

export function keyOfDelivery({ deliveryId, isTest }: NamedDelivery) {
  return isTest ? testDeliveryKey(deliveryId) : deliveryKey(deliveryId)
}

/** `ttl`: of a delivery that has ended. Index attributes hold fields that are not stored twice. */
export function deliveryRow({
  deliveryId,
  endpointId,
  createdAt,
  firedAt,
  status,
  unlisted,
  ttl,
  ...delivery
}: Delivery & { readonly ttl?: number | undefined }) {
  const { success, dueAt } = delivery
  const skippedTtl =
    status === 'skipped' ? expiresAfter(createdAt, RETENTION.deliveryMs) : undefined
  const work = status === 'abandoned' ? 'alert' : 'delivery'
  return {
    ...delivery,
    isTest: undefined,
    firedAt: firedAt === createdAt ? undefined : firedAt,
    ...(unlisted ? { state: status } : { status }),
    success: success && toItem(success),
    ttl: ttl ?? skippedTtl,
    owner: endpointId,
    entity: DELIVERY_ENTITY,
    listedAt: createdAt,
    id: deliveryId,
    ...(dueAt !== undefined && dueWork(work, deliveryId, dueAt)),
  }
}

/** Writes a delivery in the transaction of its new event, whose condition protects both. */
export function putDelivery(delivery: Delivery): Step {
  return put(deliveryKey(delivery.deliveryId), deliveryRow(delivery))
}

export function insertDelivery(delivery: Delivery): Step {
  return put(deliveryKey(delivery.deliveryId), deliveryRow(delivery), isNew)
}

export function insertTestDelivery(delivery: Delivery): Step {
  return put(testDeliveryKey(delivery.deliveryId), deliveryRow(delivery), isNew)
}

/** Due work looks for a lost message some time after the attempt is due. */
export function scheduleFields({ deliveryId }: Delivery, nextAttemptAt: Timestamp) {
  return {
    status: 'scheduled',
    nextAttemptAt,
    ...dueWork('delivery', deliveryId, addMs(nextAttemptAt, overdueAfterMs(0))),
  }
}

export function isStatus(status: DeliveryStatus) {
  return any(equals('status', status), equals(UNLISTED, status))
}

/** Claims a due delivery by moving its due time forward. False: another worker was first. */
export async function postponeDelivery(
  deps: TableDeps,
  delivery: Delivery,
  dueAt: Timestamp,
  resends: number | undefined,
): Promise<boolean> {
  // Overdue deliveries are listed, because operators look for them.
  const set = { dueAt, resends, status: delivery.status }
  const isDue = all(isStatus(delivery.status), equals('dueAt', delivery.dueAt))
  const step = update(keyOfDelivery(delivery), { set, remove: [UNLISTED] }, isDue)
  return (await deps.table.write(step)).applied
}

/** Refused when a new round has begun: its due time must stay. */
export function endAlert({ deliveryId, attempts }: Delivery): Step {
  return update(deliveryKey(deliveryId), { remove: DUE_WORK_FIELDS }, hasEnded(attempts))
}

function hasEnded(attempts: number) {
  return all(equals('status', 'abandoned'), equals('attempts', attempts))
}

/** The same for a test delivery, which a redelivery may not write. */
export function endTestAlert({ deliveryId, attempts }: Delivery): Step {
  return update(testDeliveryKey(deliveryId), { remove: DUE_WORK_FIELDS }, hasEnded(attempts))
}

const SHOWN_ATTEMPTS = 100

/** The newest attempts, oldest first. The delivery itself stores a first attempt that succeeds. */
export async function attemptsOf(
  deps: TableDeps,
  { attempts, success, ...row }: NamedDelivery & Pick<Delivery, 'attempts' | 'success'>,
  most = SHOWN_ATTEMPTS,
) {
  const firstSuccess = success ? [success] : []
  if (attempts <= firstSuccess.length) return firstSuccess
  const { items } = await deps.table.query({
    partition: [keyOfDelivery(row).pk],
    range: { beginsWith: ATTEMPT_SK_PREFIX },
    limit: Math.min(most, SHOWN_ATTEMPTS),
    newestFirst: true,
  })
  return [
    ...firstSuccess,
    ...items.flatMap((item) => ifValid(DeliveryAttemptSchema, item) ?? []).toReversed(),
  ].slice(-most)
}

type DeliveryInLane = { readonly delivery: Delivery; readonly lane: Lane }

/** A message for the slow lane says so, and no worker moves it again. */
export async function sendDeliveryMessages(
  deps: Pick<Deps, 'queues'>,
  deliveries: readonly DeliveryInLane[],
  delaySeconds = 0,
): Promise<void> {
  const lanes = Map.groupBy(deliveries, ({ lane }) => lane)
  const sends = [...lanes].map(([lane, laneDeliveries]) => {
    const messages = laneDeliveries.map(
      ({ delivery: { deliveryId, clientId, endpointId, attempts, isTest: test } }) => ({
        body: toItem({
          deliveryId,
          attempt: attempts + 1,
          clientId,
          endpointId,
          slow: lane === 'slow' || undefined,
          test,
        }),
        delaySeconds,
        group: endpointId,
      }),
    )
    return lane === 'slow'
      ? deps.queues.send('webhooks-slow', ...messages)
      : deps.queues.send('webhooks', ...messages)
  })
  await Promise.all(sends)
}
