import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { type Event, EventSchema } from '../../shared/event/event.ts'
import { EndpointIdSchema, slotOf } from '../../shared/ids.ts'
import { endpointSecretName } from '../../shared/secrets.ts'
import { isNew } from '../../shared/table/condition.ts'
import { dueWork } from '../../shared/table/due-work.ts'
import { eventKey } from '../../shared/table/keys.ts'
import { WORK_SLOTS, type Work } from '../../shared/table/schema.ts'
import { put } from '../../shared/table/step.ts'
import type { QueryPage } from '../../shared/table/table.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../shared/time.ts'
import type { Delivery } from '../../shared/webhook/delivery/delivery.ts'
import { findDelivery, insertDelivery } from '../../shared/webhook/delivery/delivery-store.ts'
import { newDelivery } from '../../shared/webhook/delivery/new-delivery.ts'
import type { Endpoint } from '../../shared/webhook/endpoint/endpoint.ts'
import { insertEndpoint } from '../../shared/webhook/endpoint/endpoint-store.ts'
import { aClientId } from './client-builders.ts'
import type { TestDeps } from './test-deps.ts'

export const SIGNING_SECRET = 'whsec_a-secret-of-tests'

/** An endpoint in the table, with its secret. */
export const storedEndpoint = async (deps: TestDeps, overrides: Partial<Endpoint> = {}): Promise<Endpoint> => {
  const endpointId = v.parse(EndpointIdSchema, randomUUID())
  const endpoint: Endpoint = {
    endpointId,
    clientId: aClientId(),
    url: 'https://merchant.example/hooks',
    eventTypes: ['*'],
    enabled: true,
    secretName: endpointSecretName('test', endpointId),
    createdAt: deps.now(),
    ...overrides,
  }
  await deps.table.write(insertEndpoint(endpoint))
  deps.secretValues.set(endpoint.secretName, SIGNING_SECRET)
  return endpoint
}

export const anEvent = (now: Timestamp, overrides: Partial<Event> = {}): Event => {
  const eventId = randomUUID()
  return v.parse(EventSchema, {
    eventId,
    type: 'payment.succeeded',
    clientId: aClientId(),
    paymentId: randomUUID(),
    firedAt: now,
    body: `{"event":"payment.succeeded","event_id":"${eventId}","data":{"description":"kopi — ☕"}}`,
    dueAt: addMs(now, 2 * MINUTE_MS),
    ...overrides,
  })
}

/** An event in the table, as a payment's transition leaves it. */
export const storedEvent = async (deps: TestDeps, overrides: Partial<Event> = {}): Promise<Event> => {
  const event = anEvent(deps.now(), overrides)
  const index = { owner: event.clientId, entity: 'event', listedAt: event.firedAt, id: event.eventId }
  const due = event.dueAt && dueWork('event', event.eventId, event.dueAt)
  await deps.table.write(put(eventKey(event.paymentId, event.type), { ...event, ...index, ...due }, isNew))
  return event
}

/** A delivery in the table, due now. */
export const storedDelivery = async (
  deps: TestDeps,
  endpoint: Endpoint,
  overrides: Partial<Delivery> = {},
): Promise<Delivery> => {
  const { eventId, type: eventType, body } = anEvent(deps.now())
  const delivery = {
    ...newDelivery({ eventId, eventType, body, firedAt: deps.now() }, endpoint, deps.now()),
    ...overrides,
  }
  await deps.table.write(insertDelivery(delivery))
  return delivery
}

/** The row as it is now. */
export const rowOf = async (deps: TestDeps, { deliveryId }: Pick<Delivery, 'deliveryId'>): Promise<Delivery> => {
  const delivery = await findDelivery(deps, deliveryId)
  if (!delivery) throw new Error('the delivery is not there')
  return delivery
}

/** When due work looks at something, as its index says; undefined when it does not. */
export const dueAtOf = async (deps: TestDeps, work: Work, id: string): Promise<string | undefined> => {
  let cursor: QueryPage['cursor']
  do {
    const partition = [work, slotOf(id, WORK_SLOTS[work])]
    const found = await deps.table.query({ index: 'by-due', partition, limit: 1_000, ...(cursor && { cursor }) })
    const item = found.items.find((candidate) => candidate['id'] === id)
    if (item) return String(item['dueAt'])
    cursor = found.cursor
  } while (cursor)
  return undefined
}
