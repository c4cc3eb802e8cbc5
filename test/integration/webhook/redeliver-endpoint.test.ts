import { describe, expect } from 'vitest'
import { eventCursorOf } from '../../../shared/event/event-cursor.ts'
import { deliveryIdFor } from '../../../shared/ids.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { deliveryKey, eventKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { changeEndpoint } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { aClientId } from '../../support/payment-builders.ts'
import { linesOf, type TestDeps, testDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  anEvent,
  drainQueue,
  ENDED,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'
import { webhookTest } from './webhook-test.ts'

const since = testDeps().now()

/** Stores an event, a second after the previous event, and a delivery if its fields are given. */
async function anEventOf(deps: TestDeps, endpoint: Endpoint, delivery?: Partial<Delivery>) {
  deps.clock.advance(1)
  const event = await storedEvent(deps, { clientId: endpoint.clientId })
  if (delivery) await storedDelivery(deps, endpoint, delivery, event)
  return event
}

const STATUSES_BEFORE = {
  abandoned: 'abandoned',
  skipped: 'skipped',
  succeeded: 'succeeded',
  inProgress: 'scheduled',
}
const STATUSES_AFTER = { abandoned: 'scheduled', skipped: 'scheduled', missing: 'scheduled' }

async function eventsOfEachKind() {
  const deps = testDeps()
  const endpoint = await storedEndpoint(deps, {
    eventTypes: ['payment.succeeded', 'payment.failed'],
  })
  const events = {
    abandoned: await anEventOf(deps, endpoint, ABANDONED),
    skipped: await anEventOf(deps, endpoint, SKIPPED),
    succeeded: await anEventOf(deps, endpoint, { ...ENDED, status: 'succeeded', attempts: 1 }),
    inProgress: await anEventOf(deps, endpoint, {
      attempts: 1,
      rounds: 10,
      roundsOn: since.slice(0, 10),
    }),
    missing: await anEventOf(deps, endpoint),
    foreign: await storedEvent(deps, {
      clientId: endpoint.clientId,
      body: anEvent(deps.now()).body,
    }),
    unwanted: await storedEvent(deps, { clientId: endpoint.clientId, type: 'payment.expired' }),
  }
  const { clientId: client_id, endpointId: endpoint_id } = endpoint
  const redeliver = (payload: object = {}) =>
    invokeAdmin('redeliver', deps, {
      operator: OPERATOR,
      client_id,
      endpoint_id,
      since,
      ...payload,
    })
  const statuses = async () => {
    const statusByKind: Record<string, string> = {}
    for (const [kind, event] of Object.entries(events)) {
      const delivery = await findDelivery(deps, deliveryIdFor(event.eventId, endpoint.endpointId))
      if (delivery) statusByKind[kind] = delivery.status
    }
    return statusByKind
  }
  return { deps, endpoint, events, redeliver, statuses }
}
const it = webhookTest.extend('kinds', eventsOfEachKind)

describe('redeliver to an endpoint since a time', () => {
  it('sends undelivered events: abandoned, skipped and missing deliveries; none is in the metric of first webhooks', async ({
    kinds,
  }) => {
    const { deps, endpoint, events, redeliver, statuses } = kinds
    deps.clock.advance(60)

    expect(await redeliver()).toStrictEqual({ status: 200, body: { count: 3, next: undefined } })

    expect(await statuses()).toStrictEqual({ ...STATUSES_BEFORE, ...STATUSES_AFTER })
    const { eventId, subject } = events.missing
    const deliveryId = deliveryIdFor(eventId, endpoint.endpointId)
    expect(await findDelivery(deps, deliveryId)).toMatchObject({ eventId, subject, attempts: 0 })
    expect(deps.sent).toHaveLength(3)
    expect(await auditRecordsOf(deps, deliveryId)).toStrictEqual([
      {
        operator: OPERATOR,
        action: 'redeliver',
        before: undefined,
        after: { status: 'scheduled' },
      },
    ])
    await drainQueue(deps)
    const succeeded = linesOf(deps, 'delivery.succeeded')
    expect(succeeded.map(({ fields }) => fields['announced_ms'])).toStrictEqual(
      Array(3).fill(undefined),
    )
  })

  it.for(['delivery', 'event', 'subject'])(
    'sends each event although another row names that event: %s',
    async (row, { kinds }) => {
      const { deps, endpoint, events, redeliver, statuses } = kinds
      const { abandoned, skipped, succeeded } = events
      const key = deliveryKey(deliveryIdFor(succeeded.eventId, endpoint.endpointId))
      const { eventId } = abandoned
      const set = row === 'event' ? { id: eventId } : { subject: toItem(abandoned.subject) }
      const step =
        row === 'delivery'
          ? update(key, { set: { eventId } }, exists)
          : update(eventKey(skipped.subject, skipped.name), { set }, exists)
      await deps.table.write(step)

      await redeliver()

      expect(await statuses()).toStrictEqual({ ...STATUSES_BEFORE, ...STATUSES_AFTER })
    },
  )

  it.for(['abandoned', 'missing'] as const)(
    'sends the others if an old event cannot be kept for longer: %s',
    async (kind, { kinds }) => {
      const { deps, events, redeliver } = kinds
      const { subject, name } = events[kind]
      await deps.table.write(update(eventKey(subject, name), { remove: ['ttl'] }, exists))
      deps.clock.advance(21 * 86_400)

      expect(await redeliver()).toMatchObject({ status: 200, body: { count: 2 } })
    },
  )

  it.for(['abandoned', 'skipped', 'succeeded'])(
    'sends only %s deliveries when asked',
    async (status, { kinds }) => {
      expect(await kinds.redeliver({ status })).toMatchObject({ body: { count: 1 } })
      expect(await kinds.statuses()).toStrictEqual({ ...STATUSES_BEFORE, [status]: 'scheduled' })
    },
  )

  it('leaves out an event type that the endpoint no longer lists (spec 6.1)', async ({ kinds }) => {
    const { deps, endpoint, redeliver, statuses } = kinds
    const change = { eventTypes: ['payment.failed'] }
    await deps.table.transact({ endpoint: changeEndpoint(endpoint, change) })

    expect(await redeliver()).toMatchObject({ body: { count: 0 } })
    expect(await statuses()).toStrictEqual(STATUSES_BEFORE)
  })

  it('leaves out earlier events, for any format of `since`', async ({ kinds }) => {
    const jakarta = kinds.events.skipped.firedAt.replace('T04:', 'T11:').replace('Z', '+07:00')

    expect(await kinds.redeliver({ since: jakarta })).toMatchObject({ body: { count: 2 } })
    expect(await kinds.statuses()).toStrictEqual({
      ...STATUSES_BEFORE,
      ...STATUSES_AFTER,
      abandoned: 'abandoned',
    })
  })

  it('leaves out events older than 90 days, because their deliveries may have expired', async ({
    kinds,
  }) => {
    const { deps, events, redeliver } = kinds
    const { eventId, subject, name, firedAt } = events.abandoned
    deps.clock.set(addMs(firedAt, 90 * DAY_MS + 1))

    expect(await redeliver()).toMatchObject({ body: { count: 2 } })
    expect(
      await redeliver({ cursor: eventCursorOf({ eventId, subject, name, firedAt }) }),
    ).toMatchObject({ status: 200 })
  })

  it('accepts a cursor from `since` on, and refuses an earlier cursor', async ({
    kinds: { redeliver, events },
  }) => {
    const { eventId, subject, name } = events.missing
    const cursorAt = (firedAt: Timestamp) => eventCursorOf({ eventId, subject, name, firedAt })

    expect(await redeliver({ cursor: cursorAt(since) })).toMatchObject({ status: 200 })
    const fieldErrors = { field_errors: { cursor: [expect.any(String)] } }
    for (const wrongTime of [addMs(since, -1), '2999-13-01T00:00:00.000Z' as Timestamp])
      expect(await redeliver({ cursor: cursorAt(wrongTime) })).toMatchObject({
        status: 422,
        body: fieldErrors,
      })
  })
})

const ONE_DELIVERY = { delivery_id: crypto.randomUUID() }
const TO_ENDPOINT = { endpoint_id: crypto.randomUUID() }

it.for([
  ['nothing to redeliver', {}, 'body'],
  ['a time for one delivery', { ...ONE_DELIVERY, since }, 'body'],
  ['an endpoint without a time', TO_ENDPOINT, 'body'],
  ['an impossible time', { ...TO_ENDPOINT, since: '2026-13-01T00:00:00Z' }, 'since'],
  ['deliveries in progress', { ...TO_ENDPOINT, since, status: 'scheduled' }, 'status'],
  ['one delivery and an endpoint', { ...ONE_DELIVERY, ...TO_ENDPOINT }, 'body'],
] as const)('redeliver refuses %s', async ([, payload, field], { deps }) => {
  const answer = await invokeAdmin('redeliver', deps, {
    operator: OPERATOR,
    client_id: aClientId(),
    ...payload,
  })

  expect(answer).toMatchObject({
    status: 422,
    body: { field_errors: { [field]: expect.any(Array) } },
  })
})
