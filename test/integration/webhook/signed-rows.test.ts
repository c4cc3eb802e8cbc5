/**
 * Goal: a function that may write deliveries and messages cannot have its own text signed with a
 * merchant's secret, nor send an event to another merchant. Method: the worker gets forged rows.
 */
import { describe, expect } from 'vitest'
import { deliveryKey, testDeliveryKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { deliveryRow } from '../../../shared/webhook/delivery/delivery-store.ts'
import { sendTestEvent } from '../../../shared/webhook/delivery/send-test-event.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import {
  anEvent,
  messageFor,
  rowOf,
  storedDelivery,
  storedEvent,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

const OWN_BYTES = { body: '{"event":"payment.succeeded"}', subject: undefined }

describe('deliver-webhook refuses', () => {
  it.for<[string, (delivery: Delivery) => object]>([
    ['another id than that of event and endpoint', () => ({ id: crypto.randomUUID() })],
    ['an event id that its event does not have', () => ({ eventId: crypto.randomUUID() })],
    ['the event of another payment', ({ firedAt }) => ({ subject: anEvent(firedAt).subject })],
    ['another event of its payment', () => ({ eventName: 'payment.failed' })],
    ['bytes of its own and no event', () => OWN_BYTES],
    ['bytes of its own, called a test', () => ({ ...OWN_BYTES, isTest: true })],
  ])('a row with %s', async ([, forgery], { deps, delivery }) => {
    const key = deliveryKey(delivery.deliveryId)
    await deps.table.write(put(key, { ...deliveryRow(delivery), ...forgery(delivery) }))

    await expect(deliverWebhook(deps, messageFor(delivery))).rejects.toThrow(
      'a delivery is of its event and its endpoint',
    )

    expect(deps.webhooks).toStrictEqual([])
  })

  it('a row with another id, which its message names', async ({ deps, delivery }) => {
    const copied = { ...delivery, deliveryId: crypto.randomUUID() as Delivery['deliveryId'] }
    await deps.table.write(put(deliveryKey(copied.deliveryId), deliveryRow(copied)))

    await expect(deliverWebhook(deps, messageFor(copied))).rejects.toThrow(
      'a delivery is of its event and its endpoint',
    )
  })

  it('the event of another client', async ({ deps, endpoint }) => {
    const foreign = await storedEvent(deps)
    const delivery = await storedDelivery(deps, endpoint, {}, foreign)

    await deliverWebhook(deps, messageFor(delivery))

    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'skipped' })
    expect(deps.webhooks).toStrictEqual([])
  })
})

it('posts to the URL of its endpoint, whatever the row says', async ({ deps, endpoint }) => {
  const delivery = await storedDelivery(deps, endpoint, { url: 'https://elsewhere.example/' })

  await deliverWebhook(deps, messageFor(delivery))

  expect(deps.webhooks.map(({ url }) => url)).toStrictEqual([endpoint.url])
})

it('sends the bytes of a test delivery under its own key alone', async ({ deps, endpoint }) => {
  const delivery = await sendTestEvent(deps, { ...endpoint, operator: 'sari' })
  const { deliveryId } = delivery

  await deliverWebhook(deps, { ...messageFor(delivery), test: false })
  expect(deps.webhooks).toStrictEqual([])
  await deliverWebhook(deps, messageFor(delivery))

  expect(deps.webhooks.map(({ body }) => String(body))).toStrictEqual([delivery.body])
  expect(await deps.table.get(deliveryKey(deliveryId))).toBeUndefined()
  expect(await deps.table.get(testDeliveryKey(deliveryId))).toMatchObject({ state: 'succeeded' })
})
