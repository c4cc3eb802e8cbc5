import { describe, expect, it } from 'vitest'
import { deliveryIdFor } from '../../../shared/ids.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { fanOutEvent } from '../../../shared/webhook/delivery/fan-out-event.ts'
import { entombEndpoint } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { aClientId } from '../../support/client-builders.ts'
import { drainQueue } from '../../support/deliver-messages.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { auditRecordsOf, OPERATOR } from '../../support/operator-actions.ts'
import { BEFORE, eventsOf, everyKind, redeliver, since } from '../../support/redeliver-harness.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'

describe('redeliver to an endpoint since a time', () => {
  it('sends what the endpoint did not get: abandoned, skipped and missing ones', async () => {
    const { deps, endpoint, events, again, statuses } = await everyKind()

    const answer = await again()

    expect(answer).toStrictEqual({ status: 200, body: { count: 3, next: undefined } })
    expect(await statuses()).toStrictEqual({
      ...BEFORE,
      abandoned: 'scheduled',
      skipped: 'scheduled',
      missing: 'scheduled',
    })
    const made = await findDelivery(deps, deliveryIdFor(events.missing.eventId, endpoint.endpointId))
    expect(made).toMatchObject({ eventId: events.missing.eventId, body: events.missing.body, attempts: 0 })
    expect(deps.sent).toHaveLength(3)
    expect(await auditRecordsOf(deps, made?.deliveryId ?? '')).toStrictEqual([
      { operator: OPERATOR, action: 'redeliver', before: undefined, after: { status: 'scheduled' } },
    ])
  })

  it('does nothing the second time', async () => {
    const { deps, again } = await everyKind()
    await again()

    expect(await again()).toStrictEqual({ status: 200, body: { count: 0, next: undefined } })
    expect(deps.sent).toHaveLength(3)
  })

  it.each(['abandoned', 'skipped', 'succeeded'] as const)(
    'sends only those of status %s when asked',
    async (status) => {
      const { again, statuses } = await everyKind()

      expect(await again({ status })).toMatchObject({ body: { count: 1 } })
      expect(await statuses()).toStrictEqual({ ...BEFORE, [status]: 'scheduled' })
    },
  )

  it('leaves out what fired before, in whatever form the time is given', async () => {
    const { events, again, statuses } = await everyKind()
    const jakarta = events.skipped.firedAt.replace('T04:', 'T11:').replace('Z', '+07:00')

    expect(await again({ since: jakarta })).toMatchObject({ body: { count: 2 } })
    expect(await statuses()).toStrictEqual({ ...BEFORE, skipped: 'scheduled', missing: 'scheduled' })
  })

  it('lets a rotation lose nothing: the new endpoint gets what the old one did not', async () => {
    const deps = testDeps()
    const old = await storedEndpoint(deps)
    const { clientId } = old
    const [event] = await eventsOf(deps, clientId, 1)
    if (!event) throw new Error('no event')
    await fanOutEvent(deps, event)
    await deps.table.transact({ old: entombEndpoint(old, deps.now()) })
    await drainQueue(deps)
    expect(deps.webhooks).toStrictEqual([])
    const fresh = await storedEndpoint(deps, { clientId, url: 'https://new.merchant.example/hooks' })

    expect(await redeliver(deps, clientId, { endpoint_id: fresh.endpointId, since })).toMatchObject({
      body: { count: 1 },
    })

    await drainQueue(deps)
    expect(deps.webhooks).toMatchObject([{ url: fresh.url }])
    expect(deps.webhooks[0]?.body.toString('utf8')).toBe(event.body)
  })

  it('goes on page by page with its cursor, over a hundred events a call', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)
    const { clientId, endpointId } = endpoint
    const events = await eventsOf(deps, clientId, 103)

    const first = await redeliver(deps, clientId, { endpoint_id: endpointId, since })
    const cursor = Reflect.get(first.body, 'next')
    const second = await redeliver(deps, clientId, { endpoint_id: endpointId, since, cursor })

    expect(first.body).toStrictEqual({ count: 100, next: expect.any(String) })
    expect(second.body).toStrictEqual({ count: 3, next: undefined })
    expect(deps.sent).toHaveLength(events.length)
  })

  it('does not follow a cursor into the events of another client', async () => {
    const deps = testDeps()
    const theirs = await storedEndpoint(deps)
    await eventsOf(deps, theirs.clientId, 101)
    const first = await redeliver(deps, theirs.clientId, { endpoint_id: theirs.endpointId, since })
    const sent = deps.sent.length
    const mine = await storedEndpoint(deps)

    const answer = await redeliver(deps, mine.clientId, {
      endpoint_id: mine.endpointId,
      since,
      cursor: Reflect.get(first.body, 'next'),
    })

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

    expect(await again({ cursor })).toMatchObject({
      status: 422,
      body: { field_errors: { cursor: [expect.any(String)] } },
    })
  })

  it('can be repeated after it failed half-way', async () => {
    const { deps, endpoint, again, statuses } = await everyKind()
    let sends = 0
    const dying: TestDeps = {
      ...deps,
      queues: {
        send: async (queue, message) => {
          if (++sends === 2) throw new Error('no queue')
          await deps.queues.send(queue, message)
        },
      },
    }

    const payload = { endpoint_id: endpoint.endpointId, since }
    expect(await redeliver(dying, endpoint.clientId, payload)).toMatchObject({ status: 500 })
    expect(await again()).toMatchObject({ status: 200, body: { count: 1 } })

    // The one whose message was lost is scheduled, and due work sends its message.
    expect(await statuses()).toMatchObject({ abandoned: 'scheduled', skipped: 'scheduled', missing: 'scheduled' })
  })

  it('leaves a missing delivery to fan-out when that is quicker', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)
    const [event] = await eventsOf(deps, endpoint.clientId, 1)
    if (!event) throw new Error('no event')
    const racing = interceptTable(deps, {
      before: async ({ name }) => {
        if (name === 'transact') await fanOutEvent(deps, event)
      },
    })

    const answer = await redeliver(racing, endpoint.clientId, { endpoint_id: endpoint.endpointId, since })

    expect(answer).toMatchObject({ status: 200, body: { count: 0 } })
    expect(deps.sent).toHaveLength(1)
  })

  it.each([
    ['disabled', { enabled: false }, 422],
    ['deleted', { enabled: false, deletedAt: since }, 422],
  ])('refuses for an endpoint that is %s, with a hint', async (_case, overrides, status) => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps, overrides)

    const answer = await redeliver(deps, endpoint.clientId, { endpoint_id: endpoint.endpointId, since })

    expect(answer).toMatchObject({ status, body: { action_hint: expect.any(String) } })
  })

  it('answers the same 404 for another client, an absent id and a wrong shape', async () => {
    const { deps, endpoint } = await everyKind()

    const answers = [
      await redeliver(deps, aClientId(), { endpoint_id: endpoint.endpointId, since }),
      await redeliver(deps, endpoint.clientId, { endpoint_id: crypto.randomUUID(), since }),
      await redeliver(deps, endpoint.clientId, { endpoint_id: 'x', since }),
    ]

    const notFound = { status: 404, body: { message: 'endpoint not found', code: 'not_found' } }
    expect(answers).toStrictEqual([notFound, notFound, notFound])
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
