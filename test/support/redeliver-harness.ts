import { handler } from '../../functions/admin/redeliver.ts'
import type { Event } from '../../shared/event/event.ts'
import { type ClientId, deliveryIdFor } from '../../shared/ids.ts'
import type { Delivery } from '../../shared/webhook/delivery/delivery.ts'
import { findDelivery } from '../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../shared/webhook/endpoint/endpoint.ts'
import { invokeAdmin } from './invoke-admin.ts'
import { OPERATOR } from './operator-actions.ts'
import { type TestDeps, testDeps } from './test-deps.ts'
import { storedDelivery, storedEndpoint, storedEvent } from './webhook-builders.ts'

export const ENDED = { nextAttemptAt: undefined, dueAt: undefined } as const
export const ABANDONED = { ...ENDED, status: 'abandoned', attempts: 8 } as const

export const redeliver = (deps: TestDeps, clientId: ClientId, payload: object) =>
  invokeAdmin(handler, deps, { operator: OPERATOR, client_id: clientId, ...payload })

/** Before everything that happens in a test. */
export const since = testDeps().now()

/** Events one second apart. */
export const eventsOf = async (deps: TestDeps, clientId: ClientId, count: number, overrides: Partial<Event> = {}) => {
  const events: Event[] = []
  for (let made = 0; made < count; made++) {
    deps.clock.advance(1)
    events.push(await storedEvent(deps, { clientId, ...overrides }))
  }
  return events
}

const delivered = (deps: TestDeps, endpoint: Endpoint, event: Event, overrides: Partial<Delivery>) =>
  storedDelivery(deps, endpoint, {
    eventId: event.eventId,
    deliveryId: deliveryIdFor(event.eventId, endpoint.endpointId),
    body: event.body,
    ...overrides,
  })

/** Deliveries of every kind, and events that have none. */
export const everyKind = async () => {
  const deps = testDeps()
  const endpoint = await storedEndpoint(deps, { eventTypes: ['payment.succeeded', 'payment.failed'] })
  const { clientId } = endpoint
  const [abandoned, skipped, succeeded, inProgress, missing] = await eventsOf(deps, clientId, 5)
  const [unwanted] = await eventsOf(deps, clientId, 1, { type: 'payment.expired' })
  if (!abandoned || !skipped || !succeeded || !inProgress || !missing || !unwanted) throw new Error('no events')
  await delivered(deps, endpoint, abandoned, ABANDONED)
  await delivered(deps, endpoint, skipped, { ...ENDED, status: 'skipped' })
  await delivered(deps, endpoint, succeeded, { ...ENDED, status: 'succeeded', attempts: 1 })
  await delivered(deps, endpoint, inProgress, { attempts: 1 })
  const events = { abandoned, skipped, succeeded, inProgress, missing, unwanted }
  const again = (payload: object = {}) =>
    redeliver(deps, clientId, { endpoint_id: endpoint.endpointId, since, ...payload })
  const statuses = async () => {
    const found: Record<string, unknown> = {}
    for (const [kind, { eventId }] of Object.entries(events)) {
      found[kind] = (await findDelivery(deps, deliveryIdFor(eventId, endpoint.endpointId)))?.status
    }
    return found
  }
  return { deps, endpoint, events, again, statuses }
}

/** The statuses of `everyKind` before anything is redelivered. */
export const BEFORE = {
  abandoned: 'abandoned',
  skipped: 'skipped',
  succeeded: 'succeeded',
  inProgress: 'scheduled',
  missing: undefined,
  unwanted: undefined,
}
