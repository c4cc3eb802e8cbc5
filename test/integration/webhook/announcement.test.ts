/**
 * Goal: deliveries are written with the money (design section 4, Announce). Method: a pending payment of a client with
 * endpoints is paid; what its transaction wrote, and what was sent after it, is read back.
 */

import { describe, expect, it } from 'vitest'
import { reversedEventName } from '../../../shared/event/event.ts'
import { listPaymentEvents } from '../../../shared/event/read-events.ts'
import { deliveryIdFor, eventIdFor } from '../../../shared/ids.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { addMs } from '../../../shared/time.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { memoryDeps, recordTable, type TestDeps } from '../../support/test-deps.ts'
import { storedEndpoint, storedEvent } from '../../support/webhook-builders.ts'

/** A payment that its customer has paid, of a client with these endpoints. */
const paidWith = async (...endpoints: readonly Partial<Endpoint>[]) => {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  const stored: Endpoint[] = []
  for (const endpoint of endpoints) stored.push(await storedEndpoint(deps, { clientId: client.clientId, ...endpoint }))
  const payment = await aPendingPayment(deps, client)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
  const eventId = eventIdFor(payment.paymentId, 'payment.succeeded')
  return {
    deps,
    payment,
    eventId,
    notify: (as: TestDeps = deps) => applyProviderNews(as, { providerPaymentId }, 'callback'),
    deliveries: () =>
      Promise.all(stored.map(({ endpointId }) => findDelivery(deps, deliveryIdFor(eventId, endpointId)))),
    events: () => listPaymentEvents(deps, payment.paymentId),
  }
}

describe('the announcement of a payment', () => {
  it('is its event and a delivery, due at once, in the transaction that credits it; skipped if disabled', async () => {
    const { deps, payment, eventId, notify, deliveries, events } = await paidWith({}, { enabled: false })
    const watched = recordTable(deps)

    await notify(watched.deps)

    const [delivery, other] = await deliveries()
    expect(other).toMatchObject({ status: 'skipped' })
    const { deliveryId: delivery_id, endpointId: endpoint_id } = { deliveryId: '', endpointId: '', ...delivery }
    const { paymentId, clientId } = payment
    const now = deps.now()
    const ids = { deliveryId: delivery_id, eventId, paymentId, clientId, endpointId: endpoint_id }
    const post = { eventName: 'payment.succeeded', url: 'https://merchant.example/hooks' }
    const state = { status: 'scheduled', attempts: 0, roundStart: 0, resends: 0, unlisted: true }
    const times = { createdAt: now, firedAt: now, nextAttemptAt: now, dueAt: addMs(now, 60_000) }
    expect(delivery).toStrictEqual({ ...ids, ...post, ...state, ...times })
    expect(await events()).toMatchObject([{ eventId, firedAt: deps.now() }])
    expect(watched.calls.filter(({ name }) => ['put', 'update', 'transact'].includes(name))).toHaveLength(1)
    const body = { delivery_id, client_id: clientId, endpoint_id, attempt: 1 }
    expect(deps.sent).toStrictEqual([{ queue: 'webhooks', message: { body, delaySeconds: 0, group: endpoint_id } }])
  })

  it.each([
    ['none of a payment that was cancelled', { status: 'cancelled', source: 'cancel' }, []],
    ['why a payment failed', { status: 'failed', source: 'callback', failureReason: 'declined' }, ['declined']],
  ] as const)('is %s', async (_case, end, reasons) => {
    const { deps, payment, events } = await paidWith({})

    await closePayment(deps, payment, end)

    const sent = (await events()).map(({ body }) => JSON.parse(body))
    expect(sent).toMatchObject(reasons.map((failure_reason) => ({ event: 'payment.failed', data: { failure_reason } })))
    expect(deps.sent).toHaveLength(reasons.length)
  })

  it('is read whole when the events of a payment exceed the megabyte of one query', async () => {
    const deps = memoryDeps()
    const { paymentId } = await storedEvent(deps, { body: 'x'.repeat(25_000) })
    for (let movement = 1; movement <= 50; movement++) {
      const name = reversedEventName({ transactionId: `txn-${movement}`, type: 'REFUND' })
      await storedEvent(deps, { paymentId, name, type: 'payment.reversed', body: 'x'.repeat(25_000) })
    }

    expect(await listPaymentEvents(deps, paymentId)).toHaveLength(51)
  })
})
