import { describe, expect } from 'vitest'
import { handler } from '../../../functions/admin/redeliver.ts'
import { eventCursorOf } from '../../../shared/event/event-cursor.ts'
import { deliveryIdFor } from '../../../shared/ids.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { aClientId } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  drainQueue,
  ENDED,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'
import { webhookTest } from './webhook-test.ts'

/** Before everything that happens in a test. */
const since = testDeps().now()

/** An event, a second after the last one, and its delivery where it has one. */
async function anEventOf(deps: TestDeps, endpoint: Endpoint, delivery?: Partial<Delivery>) {
  deps.clock.advance(1)
  const event = await storedEvent(deps, { clientId: endpoint.clientId })
  if (delivery) await storedDelivery(deps, endpoint, delivery, event)
  return event
}

/** The statuses of `everyKind` before anything is redelivered. */
const BEFORE = {
  abandoned: 'abandoned',
  skipped: 'skipped',
  succeeded: 'succeeded',
  inProgress: 'scheduled',
}
const SENT = { abandoned: 'scheduled', skipped: 'scheduled', missing: 'scheduled' }

async function everyKind() {
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
    unwanted: await storedEvent(deps, { clientId: endpoint.clientId, type: 'payment.expired' }),
  }
  const { clientId: client_id, endpointId: endpoint_id } = endpoint
  const again = (payload: object = {}) =>
    invokeAdmin(handler, deps, { operator: OPERATOR, client_id, endpoint_id, since, ...payload })
  const statuses = async () => {
    const found: Record<string, string> = {}
    for (const [kind, event] of Object.entries(events)) {
      const delivery = await findDelivery(deps, deliveryIdFor(event.eventId, endpoint.endpointId))
      if (delivery) found[kind] = delivery.status
    }
    return found
  }
  return { deps, endpoint, events, again, statuses }
}
const it = webhookTest.extend('kinds', everyKind)

describe('redeliver to an endpoint since a time', () => {
  it('sends undelivered events: abandoned, skipped and missing deliveries', async ({ kinds }) => {
    const { deps, endpoint, events, again, statuses } = kinds

    expect(await again()).toStrictEqual({ status: 200, body: { count: 3, next: undefined } })

    expect(await statuses()).toStrictEqual({ ...BEFORE, ...SENT })
    const { eventId, paymentId } = events.missing
    const deliveryId = deliveryIdFor(eventId, endpoint.endpointId)
    expect(await findDelivery(deps, deliveryId)).toMatchObject({ eventId, paymentId, attempts: 0 })
    expect(deps.sent).toHaveLength(3)
    expect(await auditRecordsOf(deps, deliveryId)).toStrictEqual([
      {
        operator: OPERATOR,
        action: 'redeliver',
        before: undefined,
        after: { status: 'scheduled' },
      },
    ])
  })

  it('adds none of them to the metric of first webhooks', async ({ kinds: { deps, again } }) => {
    deps.clock.advance(60)
    await again()
    await drainQueue(deps)

    const succeeded = deps.lines.filter(({ code }) => code === 'delivery.succeeded')
    expect(succeeded.map(({ fields }) => fields['announced_ms'])).toStrictEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it.for(['abandoned', 'skipped', 'succeeded'])(
    'sends only %s deliveries when asked',
    async (status, { kinds }) => {
      expect(await kinds.again({ status })).toMatchObject({ body: { count: 1 } })
      expect(await kinds.statuses()).toStrictEqual({ ...BEFORE, [status]: 'scheduled' })
    },
  )

  it('leaves out earlier events, for any format of `since`', async ({ kinds }) => {
    const jakarta = kinds.events.skipped.firedAt.replace('T04:', 'T11:').replace('Z', '+07:00')

    expect(await kinds.again({ since: jakarta })).toMatchObject({ body: { count: 2 } })
    expect(await kinds.statuses()).toStrictEqual({ ...BEFORE, ...SENT, abandoned: 'abandoned' })
  })

  it('leaves out events older than 90 days, because their deliveries may have expired', async ({
    kinds,
  }) => {
    const { deps, events, again } = kinds
    const { eventId, paymentId, name, firedAt } = events.abandoned
    deps.clock.set(addMs(firedAt, 90 * DAY_MS + 1))

    expect(await again()).toMatchObject({ body: { count: 2 } })
    expect(
      await again({ cursor: eventCursorOf({ eventId, paymentId, name, firedAt }) }),
    ).toMatchObject({ status: 200 })
  })

  it('accepts a cursor from `since` on, and refuses an earlier one', async ({
    kinds: { again, events },
  }) => {
    const { eventId, paymentId, name } = events.missing
    const cursorAt = (firedAt: Timestamp) => eventCursorOf({ eventId, paymentId, name, firedAt })

    expect(await again({ cursor: cursorAt(since) })).toMatchObject({ status: 200 })
    const fieldErrors = { field_errors: { cursor: [expect.any(String)] } }
    for (const wrong of [addMs(since, -1), '2999-13-01T00:00:00.000Z' as Timestamp])
      expect(await again({ cursor: cursorAt(wrong) })).toMatchObject({
        status: 422,
        body: fieldErrors,
      })
  })
})

const ONE = { delivery_id: crypto.randomUUID() }
const TO_ENDPOINT = { endpoint_id: crypto.randomUUID() }

it.for([
  ['nothing to redeliver', {}, 'body'],
  ['a time for one delivery', { ...ONE, since }, 'body'],
  ['no time', TO_ENDPOINT, 'body'],
  ['a time that is none', { ...TO_ENDPOINT, since: '2026-13-01T00:00:00Z' }, 'since'],
  ['deliveries in progress', { ...TO_ENDPOINT, since, status: 'scheduled' }, 'status'],
  ['one delivery and an endpoint', { ...ONE, ...TO_ENDPOINT }, 'body'],
] as const)('redeliver refuses %s', async ([, payload, field], { deps }) => {
  const answer = await invokeAdmin(handler, deps, {
    operator: OPERATOR,
    client_id: aClientId(),
    ...payload,
  })

  expect(answer).toMatchObject({
    status: 422,
    body: { field_errors: { [field]: expect.any(Array) } },
  })
})
