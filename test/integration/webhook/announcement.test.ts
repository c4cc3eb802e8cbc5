/**
 * Goal: deliveries are written with the money (design section 4, Announce). Method: a pending payment of a client with
 * endpoints is paid; what its transaction wrote, and what was sent after it, is read back.
 */
import { describe, expect, it } from 'vitest'
import { listPaymentEvents } from '../../../shared/event/read-events.ts'
import { deliveryIdFor, eventIdFor } from '../../../shared/ids.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { addMs } from '../../../shared/time.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { moveToGone } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { aClientId } from '../../support/client-builders.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { dueAtOf, storedEndpoint } from '../../support/webhook-builders.ts'

/** A payment that its customer has paid, of a client with these endpoints. */
const paidWith = async (...endpoints: readonly Partial<Endpoint>[]) => {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  const stored = []
  for (const endpoint of endpoints) stored.push(await storedEndpoint(deps, { clientId: client.clientId, ...endpoint }))
  const payment = await aPendingPayment(deps, client)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
  const hear = (of: TestDeps = deps) => applyProviderNews(of, { providerPaymentId }, 'callback')
  const eventId = eventIdFor(payment.paymentId, 'payment.succeeded')
  const deliveryTo = (endpoint: Endpoint | undefined) =>
    endpoint && findDelivery(deps, deliveryIdFor(eventId, endpoint.endpointId))
  return { deps, client, payment, endpoints: stored, eventId, hear, deliveryTo }
}

const noQueue = (deps: TestDeps): TestDeps => ({
  ...deps,
  queues: { send: async () => Promise.reject(new Error('no queue')) },
})

describe('the announcement of a payment', () => {
  it('is its event and a delivery, due at once, in the transaction that credits it', async () => {
    const { deps, client, payment, endpoints, eventId, hear, deliveryTo } = await paidWith({})
    const watched = recordTable(deps)

    await hear(watched.deps)

    const [endpoint] = endpoints
    const delivery = await deliveryTo(endpoint)
    expect(delivery).toStrictEqual({
      deliveryId: delivery?.deliveryId,
      eventId,
      eventName: 'payment.succeeded',
      paymentId: payment.paymentId,
      clientId: client.clientId,
      endpointId: endpoint?.endpointId,
      url: endpoint?.url,
      status: 'scheduled',
      attempts: 0,
      roundStart: 0,
      nextAttemptAt: deps.now(),
      unlisted: true,
      createdAt: deps.now(),
      firedAt: deps.now(),
      resends: 0,
      dueAt: addMs(deps.now(), 60_000),
    })
    expect(await listPaymentEvents(deps, payment.paymentId)).toMatchObject([{ eventId, firedAt: deps.now() }])
    expect(watched.calls.filter(({ name }) => ['put', 'update', 'transact'].includes(name))).toHaveLength(1)
    const ids = { delivery_id: delivery?.deliveryId, client_id: client.clientId, endpoint_id: endpoint?.endpointId }
    expect(deps.sent).toStrictEqual([
      {
        queue: 'webhooks',
        message: { body: { ...ids, attempt: 1 }, delaySeconds: 0, group: endpoint?.endpointId },
      },
    ])
  })

  it('reaches exactly the endpoints that want the event; a disabled one is skipped', async () => {
    const cases: readonly (readonly [Partial<Endpoint>, 'scheduled' | 'skipped' | undefined])[] = [
      [{ eventTypes: ['*'] }, 'scheduled'],
      [{ eventTypes: ['payment.succeeded'] }, 'scheduled'],
      [{ eventTypes: ['payment.failed', 'payment.succeeded'] }, 'scheduled'],
      [{ eventTypes: ['payment.failed', 'payment.expired'] }, undefined],
      [{ enabled: false }, 'skipped'],
      [{ enabled: false, eventTypes: ['payment.expired'] }, undefined],
      [{ clientId: aClientId() }, undefined],
    ]
    const { deps, endpoints, hear, deliveryTo } = await paidWith(...cases.map(([endpoint]) => endpoint))

    await hear()

    const statuses = await Promise.all(endpoints.map(async (endpoint) => (await deliveryTo(endpoint))?.status))
    expect(statuses).toStrictEqual(cases.map(([, status]) => status))
    expect(deps.sent).toHaveLength(3)
    expect(new Set(deps.sent.map(({ message }) => message.group)).size).toBe(3)
    expect(deps.lines.filter(({ code }) => code === 'payment.succeeded')).toMatchObject([{ fields: { deliveries: 4 } }])
  })

  it('passes by an endpoint that was deleted', async () => {
    const { deps, endpoints, hear, deliveryTo } = await paidWith({})
    const [endpoint] = endpoints
    if (!endpoint) throw new Error('no endpoint')
    await deps.table.transact(moveToGone(endpoint, deps.now()))

    await hear()

    expect(await deliveryTo(endpoint)).toBeUndefined()
  })

  it('reaches twenty endpoints', async () => {
    const { deps, hear } = await paidWith(...Array.from({ length: 20 }, () => ({})))

    await hear()

    expect(deps.sent).toHaveLength(20)
  })

  it('of a client without endpoints is the event alone, which the log says', async () => {
    const { deps, payment, hear } = await paidWith()

    await hear()

    expect(await listPaymentEvents(deps, payment.paymentId)).toHaveLength(1)
    expect(deps.sent).toStrictEqual([])
    expect(deps.lines.filter(({ code }) => code === 'payment.succeeded')).toMatchObject([{ fields: { deliveries: 0 } }])
  })

  it('is written and sent once, however often the news comes', async () => {
    const { deps, hear } = await paidWith({})

    await Promise.all([hear(), hear(), hear()])
    await hear()

    expect(deps.sent).toHaveLength(1)
  })

  it('is none of a payment that was cancelled', async () => {
    const { deps, payment } = await paidWith({})

    await closePayment(deps, payment, { status: 'cancelled', source: 'cancel' })

    expect(await listPaymentEvents(deps, payment.paymentId)).toStrictEqual([])
    expect(deps.sent).toStrictEqual([])
  })

  it('says why a payment failed', async () => {
    const { deps, payment } = await paidWith({ eventTypes: ['payment.failed'] })

    await closePayment(deps, payment, { status: 'failed', source: 'callback', failureReason: 'declined' })

    const [event] = await listPaymentEvents(deps, payment.paymentId)
    expect(JSON.parse(event?.body ?? '')).toMatchObject({
      event: 'payment.failed',
      data: { failure_reason: 'declined' },
    })
    expect(deps.sent).toHaveLength(1)
  })
})

describe('an announcement whose messages are not taken', () => {
  it('costs the payment nothing, and due work sends it a minute later', async () => {
    const { deps, payment, endpoints, hear, deliveryTo } = await paidWith({})

    await hear(noQueue(deps))

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
    expect(deps.lines).toContainEqual(expect.objectContaining({ level: 'error', code: 'delivery.not_sent' }))
    const delivery = await deliveryTo(endpoints[0])
    if (!delivery) throw new Error('no delivery')
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 60_000))
    deps.clock.advance(60)
    expect(await checkOverdueDelivery(deps, delivery.deliveryId)).toBe(true)
    expect(deps.sent).toHaveLength(1)
  })
})
