import { describe, expect } from 'vitest'
import { RETENTION } from '../../../shared/event/event.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { deflateText } from '../../../shared/table/deflated-text.ts'
import { deliveryKey, endpointKey, eventKey, testDeliveryKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { expiresAfter } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { deliveryRow } from '../../../shared/webhook/delivery/delivery-store.ts'
import { sendTestEvent } from '../../../shared/webhook/delivery/send-test-event.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { changeEndpoint, markDeleted } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { changeRow } from '../../support/tampering.ts'
import { beforeFirst, recordTable, type TestDeps, testDeps } from '../../support/test-deps.ts'
import {
  anEvent,
  attemptRows,
  deliver,
  drainQueue,
  dueAtOf,
  dueDelivery,
  FAILED,
  logCodes,
  messageFor,
  rowOf,
  storedDelivery,
  storedEndpoint,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('deliver-webhook: repeated, late and unnecessary messages', () => {
  it.each([
    [
      'a finished delivery',
      { status: 'succeeded', nextAttemptAt: undefined, dueAt: undefined },
      {},
      'finished',
    ],
    ['an attempt that was made', { attempts: 2 }, { attempt: 2 }, 'attempt_made'],
    [
      'an unknown delivery',
      {},
      { deliveryId: crypto.randomUUID() as Delivery['deliveryId'] },
      'unknown_delivery',
    ],
  ] as const)('drops a message about %s', async (_case, overrides, about, reason) => {
    const { deps, delivery } = await dueDelivery(overrides)

    await deliver(deps, delivery, about)

    expect([deps.webhooks, deps.sent]).toStrictEqual([[], []])
    expect(deps.lines).toMatchObject([{ code: 'delivery.dropped', fields: { reason } }])
  })

  it('refuses a message that names another endpoint or client than its delivery', async ({
    deps,
    endpoint,
    delivery,
  }) => {
    const { clientId, endpointId } = await storedEndpoint(deps, { enabled: false })
    const { deps: recorded, calls } = recordTable(deps)

    for (const other of [{ endpointId }, { clientId }])
      await expect(deliverWebhook(recorded, { ...messageFor(delivery), ...other })).rejects.toThrow(
        'a message names the endpoint of its delivery',
      )
    await deliver(recorded, delivery)

    expect(deps.webhooks.map(({ url }) => url)).toStrictEqual([endpoint.url])
    expect(calls.map(({ name }) => name).join()).toBe(
      'batchGet,batchGet,batchGet,get,update,update',
    )
  })
})

const NOW = testDeps().now()

describe('deliver-webhook: a missing endpoint, secret or event', () => {
  it.for([
    [
      'disabled',
      (endpoint: Endpoint) => ({ endpoint: changeEndpoint(endpoint, { enabled: false }) }),
    ],
    ['deleted', (endpoint: Endpoint) => markDeleted(endpoint, endpoint.createdAt)],
  ] as const)(
    'skips all attempts after the endpoint is %s',
    async ([, change], { deps, endpoint, delivery }) => {
      deps.answerWebhooks(async () => FAILED)
      await deliver(deps, delivery)
      await deps.table.transact(change(endpoint))

      await drainQueue(deps)

      expect(deps.webhooks).toHaveLength(1)
      expect(await rowOf(deps, delivery)).toMatchObject({ status: 'skipped', attempts: 1 })
      const ttl = expiresAfter(deps.now(), RETENTION.deliveryMs)
      expect(await deps.table.get(deliveryKey(delivery.deliveryId))).toMatchObject({ ttl })
      expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
      expect(deps.published).toStrictEqual([])
      expect(logCodes(deps).at(-1)).toBe('delivery.skipped')
    },
  )

  it('skips no delivery that is sent after the endpoint is enabled', async ({ deps, delivery }) => {
    const enable = (enabled: boolean) =>
      changeRow(deps, endpointKey(delivery), { set: { enabled } })
    await enable(false)
    const late = beforeFirst(deps, 'update', async () => {
      await enable(true)
      await deliver(deps, delivery)
    })

    await deliver(late, delivery)

    expect(logCodes(deps)).toStrictEqual(['delivery.succeeded', 'delivery.dropped'])
  })

  const secretOfAnother = async (deps: TestDeps) =>
    deps.sealer.seal('a secret', await storedEndpoint(deps))

  it.for([
    ['is missing', async () => ({ remove: ['sealedSecret'] })],
    [
      'is another endpoint’s',
      async (deps: TestDeps) => ({ set: { sealedSecret: await secretOfAnother(deps) } }),
    ],
  ] as const)(
    'counts an attempt without a POST when the secret %s',
    async ([, change], { deps, delivery }) => {
      await changeRow(deps, endpointKey(delivery), await change(deps))

      await deliver(deps, delivery)

      expect(deps.webhooks).toStrictEqual([])
      expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', attempts: 1 })
      const attempt = { number: 1, at: deps.now(), durationMs: 0, error: 'secret_missing' }
      expect(await attemptRows(deps, delivery)).toStrictEqual([attempt])
      expect(deps.sent).toHaveLength(1)
    },
  )

  it('skips a delivery whose event is missing, and records a finding', async ({
    deps,
    endpoint,
  }) => {
    const orphan = await storedDelivery(deps, endpoint, {}, anEvent(deps.now()))
    const { deps: recorded, calls } = recordTable(deps)

    await deliver(recorded, orphan)

    expect(await rowOf(deps, orphan)).toMatchObject({ status: 'skipped', attempts: 1 })
    const attempt = { number: 1, at: deps.now(), durationMs: 0, error: 'event_gone' }
    expect(await attemptRows(deps, orphan)).toStrictEqual([attempt])
    expect(await dueAtOf(deps, 'delivery', orphan.deliveryId)).toBeUndefined()
    expect(deps.webhooks).toStrictEqual([])
    // The calls read the delivery with its endpoint, then the body twice (eventually, then strongly
    // consistent). They write the claim, the finding and the attempt.
    expect(calls.map(({ name }) => name).join()).toBe('batchGet,get,get,update,transact,transact')
    expect(logCodes(deps)).toStrictEqual(['suspense.recorded', 'delivery.skipped'])
    const finding = await findSuspense(deps, `${orphan.eventId}#event_gone`)
    expect(finding).toMatchObject({
      kind: 'finding',
      cause: 'event_gone',
      paymentId: orphan.subject?.id,
      status: 'open',
    })
  })

  it.for([
    ['cannot be read', 'unreadable'],
    ['names another client, whatever owner its row has', deflateText(anEvent(NOW).body)],
  ])('skips a delivery whose event %s', async ([, body], { deps, event, delivery }) => {
    await changeRow(deps, eventKey(event.subject, event.name), { set: { body } })

    await deliver(deps, delivery)

    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'skipped', attempts: 1 })
    expect(deps.webhooks).toStrictEqual([])
  })
})

/**
 * Goal: a function that may write deliveries and messages cannot have its own text signed with a
 * merchant's secret, nor send an event to another merchant.
 */

const OWN_BYTES = { body: '{"event":"payment.succeeded"}', subject: undefined }

describe('deliver-webhook refuses', () => {
  it.for<[string, (delivery: Delivery) => object]>([
    ['an event id that its event does not have', () => ({ eventId: crypto.randomUUID() })],
    ['the event of another payment', ({ firedAt }) => ({ subject: anEvent(firedAt).subject })],
    ['another event of its payment', () => ({ eventName: 'payment.failed' })],
    ['bytes of its own and no event', () => OWN_BYTES],
    ['bytes of its own, called a test', () => ({ ...OWN_BYTES, isTest: true })],
    ['another id, which its message names', () => ({ deliveryId: crypto.randomUUID() })],
  ])('a row with %s', async ([, forgery], { deps, delivery }) => {
    const forged = forgery(delivery)
    const { deliveryId }: Delivery = { ...delivery, ...forged }
    await deps.table.write(put(deliveryKey(deliveryId), { ...deliveryRow(delivery), ...forged }))

    await expect(deliver(deps, delivery, { deliveryId })).rejects.toThrow(
      'a delivery is of its event and its endpoint',
    )

    expect(deps.webhooks).toStrictEqual([])
  })
})

it('posts an event to the client that its body names, whatever owner its row has', async ({
  deps,
  event,
  delivery,
}) => {
  const { clientId: owner } = anEvent(deps.now())
  await changeRow(deps, eventKey(event.subject, event.name), { set: { owner } })

  await deliver(deps, delivery)

  expect(deps.webhooks.map(({ body }) => String(body))).toStrictEqual([event.body])
})

it('posts to the URL of its endpoint, whatever the row says', async ({ deps, endpoint }) => {
  const delivery = await storedDelivery(deps, endpoint, { url: 'https://elsewhere.example/' })

  await deliver(deps, delivery)

  expect(deps.webhooks.map(({ url }) => url)).toStrictEqual([endpoint.url])
})

it('sends the bytes of a test delivery under its own key alone', async ({ deps, endpoint }) => {
  const delivery = await sendTestEvent(deps, { ...endpoint, operator: 'sari' })
  const { deliveryId } = delivery

  await deliver(deps, delivery, { test: false })
  expect(deps.webhooks).toStrictEqual([])
  await deliver(deps, delivery)

  expect(deps.webhooks.map(({ body }) => String(body))).toStrictEqual([delivery.body])
  expect(await deps.table.get(deliveryKey(deliveryId))).toBeUndefined()
  expect(await deps.table.get(testDeliveryKey(deliveryId))).toMatchObject({ state: 'succeeded' })
})
