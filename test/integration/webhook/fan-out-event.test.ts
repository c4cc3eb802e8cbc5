import { describe, expect } from 'vitest'
import { completeEvent, listPaymentEvents, postponeEvent } from '../../../shared/event/event-store.ts'
import { deliveryIdFor } from '../../../shared/ids.ts'
import { addMs } from '../../../shared/time.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { fanOutEvent } from '../../../shared/webhook/delivery/fan-out-event.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { changeEndpoint } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { aClientId } from '../../support/client-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import {
  anEvent,
  dueAtOf,
  eventFor,
  isDue,
  rowOf,
  statusesOf,
  storedDelivery,
  storedEvent,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('fanOutEvent (spec 6)', () => {
  it('makes a delivery of the event, due at once, and takes the event off the due work', async () => {
    const { deps, clientId, event, endpoints } = await eventFor({})

    await fanOutEvent(deps, event)

    const [endpoint] = endpoints
    if (!endpoint) throw new Error('no endpoint')
    const deliveryId = deliveryIdFor(event.eventId, endpoint.endpointId)
    expect(await findDelivery(deps, deliveryId)).toStrictEqual({
      deliveryId,
      eventId: event.eventId,
      eventType: 'payment.succeeded',
      paymentId: event.paymentId,
      clientId,
      endpointId: endpoint.endpointId,
      url: endpoint.url,
      status: 'scheduled',
      attempts: 0,
      roundStart: 0,
      nextAttemptAt: deps.now(),
      unlisted: true,
      createdAt: deps.now(),
      firedAt: event.firedAt,
      resends: 0,
      dueAt: addMs(deps.now(), 120_000),
    })
    expect(deps.sent).toStrictEqual([
      {
        queue: 'webhooks',
        message: {
          body: { delivery_id: deliveryId, attempt: 1, client_id: clientId, endpoint_id: endpoint.endpointId },
          delaySeconds: 0,
          group: endpoint.endpointId,
        },
      },
    ])
    expect(await dueAtOf(deps, 'delivery', deliveryId)).toBe(addMs(deps.now(), 120_000))
    expect(await isDue(deps, event)).toBe(false)
  })

  it('reaches exactly the endpoints that want the event', async () => {
    const cases: readonly (readonly [Partial<Endpoint>, 'scheduled' | 'skipped' | undefined])[] = [
      [{ eventTypes: ['*'] }, 'scheduled'],
      [{ eventTypes: ['payment.succeeded'] }, 'scheduled'],
      [{ eventTypes: ['payment.failed', 'payment.succeeded'] }, 'scheduled'],
      [{ eventTypes: ['payment.failed', 'payment.expired'] }, undefined],
      [{ enabled: false }, 'skipped'],
      [{ enabled: false, eventTypes: ['payment.expired'] }, undefined],
      [{ enabled: false, deletedAt: testDeps().now() }, undefined],
      [{ clientId: aClientId() }, undefined],
    ]
    const { deps, event, endpoints } = await eventFor(...cases.map(([endpoint]) => endpoint))

    await fanOutEvent(deps, event)

    expect(await statusesOf(deps, event, endpoints)).toStrictEqual(cases.map(([, status]) => status))
    expect(deps.sent).toHaveLength(3)
    expect(new Set(deps.sent.map(({ message }) => message.group)).size).toBe(3)
    expect(deps.lines).toMatchObject([{ code: 'event.fanned_out', fields: { deliveries: 4 } }])
  })

  it('finds all endpoints of a client, more than one page of them', async () => {
    const { deps, event, endpoints } = await eventFor(...Array.from({ length: 105 }, () => ({})))

    await fanOutEvent(deps, event)

    expect(new Set(await statusesOf(deps, event, endpoints))).toStrictEqual(new Set(['scheduled']))
    expect(deps.sent).toHaveLength(105)
  })

  it('ends an event nobody wants, visibly', async () => {
    const { deps, event } = await eventFor()

    await fanOutEvent(deps, event)

    expect(await isDue(deps, event)).toBe(false)
    expect(deps.sent).toStrictEqual([])
    expect(deps.lines).toMatchObject([{ level: 'info', code: 'event.fanned_out', fields: { deliveries: 0 } }])
  })

  it('leaves deliveries alone that are further along', async ({ deps, endpoint }) => {
    const event = await storedEvent(deps, { clientId: endpoint.clientId })
    const delivery = await storedDelivery(deps, endpoint, { attempts: 2 }, event)

    await fanOutEvent(deps, event)

    expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
    expect(deps.sent).toStrictEqual([])
  })

  it('does not announce to an endpoint whose delivery was skipped before it was enabled', async () => {
    const { deps, event, endpoints } = await eventFor({ enabled: false })
    await fanOutEvent(deps, event)
    const [endpoint] = endpoints
    if (!endpoint) throw new Error('no endpoint')
    await deps.table.transact({ endpoint: changeEndpoint(endpoint, { enabled: true }) })

    await fanOutEvent(deps, event)

    expect(await statusesOf(deps, event, endpoints)).toStrictEqual(['skipped'])
    expect(deps.sent).toStrictEqual([])
  })
})

describe('fanOutEvent: crashes', () => {
  it('sends the message again when it died between delivery and message', async () => {
    const { deps, event, endpoints } = await eventFor({})
    const dying = { ...deps, queues: { send: async () => Promise.reject(new Error('no queue')) } }
    await expect(fanOutEvent(dying, event)).rejects.toThrow(AggregateError)
    expect(await statusesOf(deps, event, endpoints)).toStrictEqual(['scheduled'])
    expect(await isDue(deps, event)).toBe(true)

    await fanOutEvent(deps, event)

    expect(deps.sent).toHaveLength(1)
    expect(await isDue(deps, event)).toBe(false)
  })

  it('stays due when one endpoint fails, and serves the others all the same', async () => {
    const { deps, event, endpoints } = await eventFor({}, {}, {})
    const unlucky = endpoints[1]?.endpointId
    const send: TestDeps['queues']['send'] = async (queue, ...messages) => {
      await deps.queues.send(queue, ...messages.filter(({ group }) => group !== unlucky))
      throw new Error('no queue')
    }

    await expect(fanOutEvent({ ...deps, queues: { send } }, event)).rejects.toThrow(AggregateError)

    const served = new Set([endpoints[0]?.endpointId, endpoints[2]?.endpointId])
    expect(new Set(deps.sent.map(({ message }) => message.group))).toStrictEqual(served)
    expect(deps.sent).toHaveLength(2)
    expect(await isDue(deps, event)).toBe(true)
    expect(deps.lines).toMatchObject([{ code: 'event.fan_out_failed', fields: { failed: 1, endpoints: 3 } }])
  })
})

describe('event store', () => {
  it('postpones only from the due time it has read', async () => {
    const { deps, event } = await eventFor()
    const later = addMs(deps.now(), 600_000)

    expect(await postponeEvent(deps, { ...event, dueAt: deps.now() }, later)).toBe(false)
    await completeEvent(deps, event)
    expect(await postponeEvent(deps, event, later)).toBe(false)
    expect(await isDue(deps, event)).toBe(false)
  })

  it('makes no row when it completes an event that is not there', async ({ deps }) => {
    const event = anEvent(deps.now())

    await completeEvent(deps, event)

    expect(await listPaymentEvents(deps, event.paymentId)).toStrictEqual([])
  })
})
