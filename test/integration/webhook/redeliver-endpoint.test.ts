import { describe, expect } from 'vitest'
import { handler } from '../../../functions/admin/redeliver.ts'
import type { Event } from '../../../shared/event/event.ts'
import { deliveryIdFor } from '../../../shared/ids.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { aClientId } from '../../support/client-builders.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { auditRecordsOf, invokeAdmin, notFoundReply, OPERATOR } from '../../support/operator-actions.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  ENDED,
  SKIPPED,
  statusesOf,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

/** Before everything that happens in a test. */
const since = testDeps().now()

const redeliver = (deps: TestDeps, { clientId, endpointId }: Endpoint, payload: object = {}) =>
  invokeAdmin(handler, deps, { operator: OPERATOR, client_id: clientId, endpoint_id: endpointId, since, ...payload })

/** An event, a second after the last one, and its delivery where it has one. */
const anEventOf = async (
  deps: TestDeps,
  endpoint: Endpoint,
  delivery?: Partial<Delivery>,
  fields: Partial<Event> = {},
): Promise<Event> => {
  deps.clock.advance(1)
  const event = await storedEvent(deps, { clientId: endpoint.clientId, ...fields })
  if (delivery) await storedDelivery(deps, endpoint, delivery, event)
  return event
}

const eventsOf = async (deps: TestDeps, endpoint: Endpoint, count: number) => {
  for (let made = 0; made < count; made++) await anEventOf(deps, endpoint)
}

/** The statuses of `everyKind` before anything is redelivered. */
const BEFORE = { abandoned: 'abandoned', skipped: 'skipped', succeeded: 'succeeded', inProgress: 'scheduled' }

/** Deliveries of every kind, and events that have none. */
const everyKind = async () => {
  const deps = testDeps()
  const endpoint = await storedEndpoint(deps, { eventTypes: ['payment.succeeded', 'payment.failed'] })
  const events = {
    abandoned: await anEventOf(deps, endpoint, ABANDONED),
    skipped: await anEventOf(deps, endpoint, SKIPPED),
    succeeded: await anEventOf(deps, endpoint, { ...ENDED, status: 'succeeded', attempts: 1 }),
    inProgress: await anEventOf(deps, endpoint, { attempts: 1 }),
    missing: await anEventOf(deps, endpoint),
    unwanted: await anEventOf(deps, endpoint, undefined, { type: 'payment.expired' }),
  }
  const again = (payload: object = {}) => redeliver(deps, endpoint, payload)
  /** Of those that have a delivery. */
  const statuses = async () => {
    const kinds = Object.entries(events)
    const found = await Promise.all(kinds.map(([, event]) => statusesOf(deps, event, [endpoint])))
    return Object.fromEntries(kinds.flatMap(([kind], at) => (found[at]?.[0] ? [[kind, found[at][0]]] : [])))
  }
  return { deps, endpoint, events, again, statuses }
}

describe('redeliver to an endpoint since a time', () => {
  it('sends what the endpoint did not get: abandoned, skipped and missing ones', async () => {
    const { deps, endpoint, events, again, statuses } = await everyKind()

    const answer = await again()

    expect(answer).toStrictEqual({ status: 200, body: { count: 3, next: undefined } })
    const sent = { abandoned: 'scheduled', skipped: 'scheduled', missing: 'scheduled' }
    expect(await statuses()).toStrictEqual({ ...BEFORE, ...sent })
    const made = await findDelivery(deps, deliveryIdFor(events.missing.eventId, endpoint.endpointId))
    expect(made).toMatchObject({ eventId: events.missing.eventId, paymentId: events.missing.paymentId, attempts: 0 })
    expect(deps.sent).toHaveLength(3)
    expect(await auditRecordsOf(deps, made?.deliveryId ?? '')).toStrictEqual([
      { operator: OPERATOR, action: 'redeliver', before: undefined, after: { status: 'scheduled' } },
    ])
  })

  it.each(['abandoned', 'skipped', 'succeeded'] as const)(
    'sends only those of status %s when asked',
    async (status) => {
      const { again, statuses } = await everyKind()

      expect(await again({ status })).toMatchObject({ body: { count: 1 } })
      expect(await statuses()).toStrictEqual({ ...BEFORE, [status]: 'scheduled' })
    },
  )

  it('passes over and counts what has no round left today', async ({ deps, endpoint }) => {
    const rounds = { rounds: 10, roundsOn: deps.now().slice(0, 10) }
    await anEventOf(deps, endpoint, { ...ABANDONED, ...rounds })
    await anEventOf(deps, endpoint, { ...ABANDONED, ...rounds, rounds: 9 })
    await anEventOf(deps, endpoint, { ...ABANDONED, ...rounds, roundsOn: '2020-01-01' })

    expect(await redeliver(deps, endpoint)).toMatchObject({ status: 200, body: { count: 2, passed_over: 1 } })
  })

  it('leaves out what fired before, in whatever form the time is given', async () => {
    const { events, again, statuses } = await everyKind()
    const jakarta = events.skipped.firedAt.replace('T04:', 'T11:').replace('Z', '+07:00')

    expect(await again({ since: jakarta })).toMatchObject({ body: { count: 2 } })
    expect(await statuses()).toStrictEqual({ ...BEFORE, skipped: 'scheduled', missing: 'scheduled' })
  })

  it('goes on page by page with its cursor, over a hundred events a call', async ({ deps, endpoint }) => {
    await eventsOf(deps, endpoint, 103)

    const first = await redeliver(deps, endpoint)
    const second = await redeliver(deps, endpoint, { cursor: Reflect.get(first.body, 'next') })

    expect(first.body).toStrictEqual({ count: 100, next: expect.any(String) })
    expect(second.body).toStrictEqual({ count: 3, next: undefined })
    expect(deps.sent).toHaveLength(103)
  })

  it('does not follow a cursor into the events of another client', async ({ deps }) => {
    const theirs = await storedEndpoint(deps)
    await eventsOf(deps, theirs, 101)
    const first = await redeliver(deps, theirs)
    const sent = deps.sent.length
    const mine = await storedEndpoint(deps)

    const answer = await redeliver(deps, mine, { cursor: Reflect.get(first.body, 'next') })

    expect(answer).toStrictEqual({ status: 200, body: { count: 0, next: undefined } })
    expect(deps.sent).toHaveLength(sent)
  })

  it.each([
    ['no cursor at all', 'x'],
    ['nothing', ''],
    ['another JSON', Buffer.from('{"event_id":"x"}').toString('base64url')],
    ['a cursor from before since', cursorOf({ fired_at: '2020-01-01T00:00:00.000Z' })],
    ['a cursor with an owner', cursorOf({ client_id: aClientId() })],
  ])('refuses %s as a cursor', async (_case, cursor) => {
    const { again } = await everyKind()

    const refused = { status: 422, body: { field_errors: { cursor: [expect.any(String)] } } }
    expect(await again({ cursor })).toMatchObject(refused)
  })

  it('can be repeated after it failed half-way', async () => {
    const { deps, endpoint, again, statuses } = await everyKind()
    let sends = 0
    const send: TestDeps['queues']['send'] = async (queue, message) => {
      if (++sends === 2) throw new Error('no queue')
      await deps.queues.send(queue, message)
    }

    expect(await redeliver({ ...deps, queues: { send } }, endpoint)).toMatchObject({ status: 500 })
    expect(await again()).toMatchObject({ status: 200, body: { count: 1 } })

    // The one whose message was lost is scheduled, and due work sends its message.
    expect(await statuses()).toMatchObject({ abandoned: 'scheduled', skipped: 'scheduled', missing: 'scheduled' })
  })

  it('leaves a missing delivery to another call when that is quicker', async ({ deps, endpoint }) => {
    await anEventOf(deps, endpoint)
    const racing = beforeFirst(deps, 'transact', () => redeliver(deps, endpoint))

    const answer = await redeliver(racing, endpoint)

    expect(answer).toMatchObject({ status: 200, body: { count: 0 } })
    expect(deps.sent).toHaveLength(1)
  })

  it.for([
    ['disabled', { enabled: false }],
    ['deleted', { enabled: false, deletedAt: since }],
  ] as const)('refuses for an endpoint that is %s, with a hint', async ([, overrides], { deps }) => {
    const endpoint = await storedEndpoint(deps, overrides)

    expect(await redeliver(deps, endpoint)).toMatchObject({ status: 422, body: { action_hint: expect.any(String) } })
  })

  it('answers the same 404 for another client, an absent id and a wrong shape', async () => {
    const { deps, endpoint } = await everyKind()

    const answers = [
      await redeliver(deps, { ...endpoint, clientId: aClientId() }),
      await redeliver(deps, endpoint, { endpoint_id: crypto.randomUUID() }),
      await redeliver(deps, endpoint, { endpoint_id: 'x' }),
    ]

    expect(answers).toStrictEqual(answers.map(() => notFoundReply('endpoint')))
    expect(deps.sent).toStrictEqual([])
  })
})

/** A cursor of our own making, but for what is changed in it. */
function cursorOf(changes: object): string {
  const position = {
    event_id: crypto.randomUUID(),
    payment_id: crypto.randomUUID(),
    type: 'payment.succeeded',
    fired_at: '2026-11-20T05:00:00.000Z',
    ...changes,
  }
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}
