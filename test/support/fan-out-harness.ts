import { expect } from 'vitest'
import type { Event } from '../../shared/event/event.ts'
import { findEvent } from '../../shared/event/event-store.ts'
import { deliveryIdFor } from '../../shared/ids.ts'
import { eventKey } from '../../shared/table/keys.ts'
import { findDelivery } from '../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../shared/webhook/endpoint/endpoint.ts'
import { aClientId } from './client-builders.ts'
import { type TestDeps, testDeps } from './test-deps.ts'
import { dueAtOf, storedEndpoint, storedEvent } from './webhook-builders.ts'

/** An event of a client with these endpoints. */
export const eventFor = async (...endpoints: readonly Partial<Endpoint>[]) => {
  const deps = testDeps()
  const clientId = aClientId()
  const stored = []
  for (const endpoint of endpoints) stored.push(await storedEndpoint(deps, { clientId, ...endpoint }))
  const event = await storedEvent(deps, { clientId })
  return { deps, clientId, event, endpoints: stored }
}

export const deliveryOf = (deps: TestDeps, event: Event, { endpointId }: Endpoint) =>
  findDelivery(deps, deliveryIdFor(event.eventId, endpointId))

export const statusesOf = async (deps: TestDeps, event: Event, endpoints: readonly Endpoint[]) =>
  Promise.all(endpoints.map(async (endpoint) => (await deliveryOf(deps, event, endpoint))?.status))

/** Whether due work would still fan the event out; row and index agree. */
export const isDue = async (deps: TestDeps, event: Event) => {
  const row = await findEvent(deps, eventKey(event.paymentId, event.type))
  expect(await dueAtOf(deps, 'event', event.eventId)).toBe(row?.dueAt)
  return row?.dueAt !== undefined
}
