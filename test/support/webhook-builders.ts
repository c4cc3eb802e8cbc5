import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Event } from '../../shared/event/event.ts'
import { putEvent } from '../../shared/event/event-store.ts'
import { EventSchema } from '../../shared/event/read-events.ts'
import {
  EndpointIdSchema,
  eventIdFor,
  PaymentIdSchema,
  slotOf,
  subjectOfPayment,
} from '../../shared/ids.ts'
import { putWindow } from '../../shared/ledger/window-store.ts'
import { recordChange } from '../../shared/operator/audit-record-store.ts'
import type { WebhookResult } from '../../shared/send-webhook.ts'
import { attemptKey, clientKey, deliveryKey } from '../../shared/table/keys.ts'
import { queryAll } from '../../shared/table/list-items.ts'
import { WORK_SLOTS, type Work } from '../../shared/table/schema.ts'
import { dueWork, exists, isNew, put, update } from '../../shared/table/step.ts'
import type { Timestamp } from '../../shared/time.ts'
import {
  type Delivery,
  type DeliveryAttempt,
  DeliveryMessageSchema,
} from '../../shared/webhook/delivery/delivery.ts'
import {
  attemptsOf,
  findDelivery,
  insertDelivery,
  newDelivery,
} from '../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../shared/webhook/endpoint/endpoint.ts'
import { toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'
import { countEndpoint, insertEndpoint } from '../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../shared/webhook/send/deliver-webhook.ts'
import { aClient, aClientId } from './payment-builders.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

export const SIGNING_SECRET = 'whsec_a-secret-of-tests'

export async function storedEndpoint(deps: TestDeps, overrides: Partial<Endpoint> = {}) {
  const endpointId = v.parse(EndpointIdSchema, randomUUID())
  const endpoint: Endpoint = {
    endpointId,
    clientId: aClientId(),
    url: 'https://merchant.example/hooks',
    eventTypes: ['*'],
    enabled: true,
    createdAt: deps.now(),
    ...overrides,
  }
  const sealedSecret = await deps.sealer.seal(SIGNING_SECRET, endpoint)
  const { clientId } = endpoint
  // Every client has a row and a window. Existing ones are kept.
  const client = aClient({ clientId, createdAt: deps.now() })
  await deps.table.write(put(clientKey(clientId), client, isNew))
  await deps.table.write(putWindow(clientId, deps.now()))
  const after = toEndpointDto(endpoint)
  const action = { operator: 'test', action: 'register-endpoint', after }
  await recordChange(
    deps,
    { subject: clientId, clientId, ...action },
    { client: countEndpoint(clientId, 1), endpoint: insertEndpoint({ ...endpoint, sealedSecret }) },
  )
  return endpoint
}

export function anEvent(now: Timestamp, overrides: Partial<Event> = {}) {
  const subject = overrides.subject ?? subjectOfPayment(v.parse(PaymentIdSchema, randomUUID()))
  const name = overrides.name ?? overrides.type ?? 'payment.succeeded'
  const eventId = eventIdFor(subject, name)
  const { clientId = aClientId() } = overrides
  const data = `{"client_id":"${clientId}","description":"kopi — ☕"}`
  return v.parse(EventSchema, {
    eventId,
    name,
    type: 'payment.succeeded',
    clientId,
    subject,
    firedAt: now,
    body: `{"event":"payment.succeeded","event_id":"${eventId}","data":${data}}`,
    ...overrides,
  })
}

export async function storedEvent(deps: TestDeps, overrides: Partial<Event> = {}) {
  const event = anEvent(deps.now(), overrides)
  await deps.table.write(putEvent(event))
  return event
}

/** Also stores an event if none is given. */
export async function storedDelivery(
  deps: TestDeps,
  endpoint: Endpoint,
  overrides: Partial<Delivery> = {},
  given?: Event,
) {
  const event = given ?? (await storedEvent(deps, { clientId: endpoint.clientId }))
  const delivery = { ...newDelivery(event, endpoint, deps.now()), ...overrides }
  await deps.table.write(insertDelivery(delivery))
  return delivery
}

/** Abandoned after attempts whose answers are the longest in JSON. */
export async function attemptedDelivery(
  deps: TestDeps,
  endpoint: Endpoint,
  count: number,
  event?: Event,
) {
  const longest = { responseBody: '\u0001'.repeat(1_024) }
  const ended = { ...ABANDONED, attempts: count }
  const { deliveryId } = await storedDelivery(deps, endpoint, ended, event)
  for (let number = 1; number <= count; number++)
    await deps.table.write(put(attemptKey(deliveryId, number), attemptOf(deps, number, longest)))
  return deliveryId
}

export async function dueDelivery(
  overrides: Partial<Delivery> = {},
  endpointOverrides: Partial<Endpoint> = {},
) {
  const deps = testDeps()
  const endpoint = await storedEndpoint(deps, endpointOverrides)
  return { deps, endpoint, delivery: await storedDelivery(deps, endpoint, overrides) }
}

export function makeAlertDue(deps: TestDeps, { deliveryId }: Delivery) {
  return deps.table.write(
    update(deliveryKey(deliveryId), { set: dueWork('alert', deliveryId, deps.now()) }, exists),
  )
}

/** After its first failure a delivery is in the list of its status. */
export function listedDelivery(delivery: Delivery) {
  const { unlisted: _, ...row } = delivery
  return row
}

/** The fields that a finished delivery in the list of its status does not have. */
export const ENDED = { nextAttemptAt: undefined, dueAt: undefined, unlisted: undefined } as const
export const SKIPPED = { ...ENDED, status: 'skipped' } as const
export const ABANDONED = { ...ENDED, status: 'abandoned', attempts: 8 } as const

export const FAILED: WebhookResult = {
  httpStatus: 500,
  error: 'http_status',
  responseBody: 'no',
  durationMs: 9,
}

export function messageFor({ deliveryId, clientId, endpointId, attempts, isTest }: Delivery) {
  const message = { deliveryId, clientId, endpointId, attempt: attempts + 1 }
  return isTest ? { ...message, test: true } : message
}

export function deliver(
  deps: Parameters<typeof deliverWebhook>[0],
  delivery: Delivery,
  fields: object = {},
) {
  return deliverWebhook(deps, { ...messageFor(delivery), ...fields })
}

export function sentFor(
  { deliveryId, clientId, endpointId, attempts }: Delivery,
  delaySeconds = 0,
  slow?: true,
) {
  const ids = { delivery_id: deliveryId, client_id: clientId, endpoint_id: endpointId }
  const body = { ...ids, attempt: attempts + 1, ...(slow && { slow }) }
  return {
    queue: slow ? 'webhooks-slow' : 'webhooks',
    message: { body, delaySeconds, group: endpointId },
  }
}

export async function deliverNextMessage(deps: TestDeps) {
  const next = deps.sent.shift()
  if (!next) throw new Error('the queue is empty')
  deps.clock.advance(next.message.delaySeconds)
  await deliverWebhook(deps, v.parse(DeliveryMessageSchema, next.message.body))
}

export async function drainQueue(deps: TestDeps) {
  for (let worked = 0; deps.sent.length > 0; worked++) {
    if (worked === 200) throw new Error('the queue still has messages after 200 runs')
    await deliverNextMessage(deps)
  }
}

export async function rowOf(deps: TestDeps, { deliveryId }: Pick<Delivery, 'deliveryId'>) {
  const delivery = await findDelivery(deps, deliveryId)
  if (!delivery) throw new Error('the delivery does not exist')
  return delivery
}

export function attemptRows(deps: TestDeps, { deliveryId }: Pick<Delivery, 'deliveryId'>) {
  return attemptsOf(deps, { deliveryId, attempts: 1 })
}

/** Undefined if the item is not due work. */
export async function dueAtOf(deps: TestDeps, work: Work, id: string) {
  const due = await queryAll(deps, {
    index: 'by-due',
    partition: [work, slotOf(id, WORK_SLOTS[work])],
    limit: 1_000,
  })
  const item = due.find((candidate) => candidate['id'] === id)
  return item?.['dueAt'] as Timestamp | undefined
}

export function logCodes(deps: TestDeps) {
  return deps.lines.map(({ code }) => code)
}

export function attemptOf(
  deps: TestDeps,
  number: number,
  overrides: Partial<DeliveryAttempt> = {},
): DeliveryAttempt {
  return {
    number,
    at: deps.now(),
    durationMs: 5,
    httpStatus: 500,
    error: 'http_status',
    responseBody: 'no',
    ...overrides,
  }
}
