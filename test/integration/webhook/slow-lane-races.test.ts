/**
 * Goal: whatever races or dies around the slow lane, a delivery is neither lost nor made twice, and no worker that others
 * need waits for an endpoint that hangs. Method: each race is played out, and each condition of the mark refuses once.
 */
import { describe, expect } from 'vitest'
import type { WebhookResult } from '../../../shared/send-webhook.ts'
import { addMs } from '../../../shared/time.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { changeEndpoint, findEndpoint, markSlow, unmarkSlow } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { interceptTable, recordTable, writtenKeys } from '../../support/intercept-table.ts'
import {
  codes,
  drainQueue,
  HUNG,
  lanesOf,
  messageFor,
  rowOf,
  slowDelivery,
  slowSince,
  storedDelivery,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('the slow lane: a worker that others need', () => {
  it('sends the message on, and makes no attempt and no write', async () => {
    const { deps, delivery } = await slowDelivery()
    const { deps: watched, calls } = recordTable(deps)

    await deliverWebhook(watched, messageFor(delivery))

    expect(writtenKeys(calls)).toStrictEqual([])
    expect(deps.webhooks).toStrictEqual([])
    expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
    const { deliveryId: delivery_id, clientId: client_id, endpointId: endpoint_id } = delivery
    const body = { delivery_id, attempt: 1, client_id, endpoint_id, slow: true }
    expect(deps.sent).toStrictEqual([
      { queue: 'webhooks-slow', message: { body, delaySeconds: 0, group: endpoint_id } },
    ])
  })

  it('sends on what due work found overdue, since that knows nothing of the endpoint', async () => {
    const { deps, delivery } = await slowDelivery()
    deps.clock.advance(180)

    await checkOverdueDelivery(deps, delivery.deliveryId)
    const found = lanesOf(deps)
    await drainQueue(deps)

    expect(found).toStrictEqual(['webhooks'])
    expect(deps.webhooks).toHaveLength(1)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded' })
  })

  it('dies behind sending it on: two messages in the slow lane make one attempt', async () => {
    const { deps, delivery } = await slowDelivery()

    await deliverWebhook(deps, messageFor(delivery))
    await deliverWebhook(deps, messageFor(delivery))
    const sent = lanesOf(deps)
    await drainQueue(deps)

    expect(sent).toStrictEqual(['webhooks-slow', 'webhooks-slow'])
    expect(deps.webhooks).toHaveLength(1)
  })

  it('cannot send it on: its message stays, and nothing is claimed', async () => {
    const { deps, delivery } = await slowDelivery()
    const queues = { send: () => Promise.reject(new Error('the queue cannot be reached')) }

    await expect(deliverWebhook({ ...deps, queues }, messageFor(delivery))).rejects.toThrow('cannot be reached')

    expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
  })

  it('has begun before the mark was set: both lanes hold the delivery, and one makes the attempt', async () => {
    const { deps, delivery, endpoint } = await slowDelivery({ slowSince: undefined })
    const merchant = Promise.withResolvers<WebhookResult>()
    deps.answerWebhooks(() => merchant.promise)
    const begun = deliverWebhook(deps, messageFor(delivery))
    await expect.poll(() => deps.webhooks).toHaveLength(1)
    await deps.table.write(markSlow(endpoint, deps.now()))

    await deliverWebhook(deps, { ...messageFor(delivery), slow: true })
    // Under the claim: it looks again when that ends.
    expect(deps.sent).toMatchObject([{ queue: 'webhooks-slow', message: { delaySeconds: 30 } }])
    merchant.resolve(HUNG)
    await begun

    expect(deps.webhooks).toHaveLength(1)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', attempts: 1 })
  })

  it('skips the delivery of a disabled endpoint at once, slow or not', async () => {
    const { deps, delivery } = await slowDelivery({ enabled: false })

    await deliverWebhook(deps, messageFor(await rowOf(deps, delivery)))

    expect(deps.sent).toStrictEqual([])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'skipped' })
  })
})

describe('the mark of an endpoint that hangs', () => {
  it('is set by one of many attempts that end together', async ({ deps, endpoint }) => {
    const deliveries = await Promise.all(Array.from({ length: 10 }, () => storedDelivery(deps, endpoint)))
    deps.answerWebhooks(async () => HUNG)

    await Promise.all(deliveries.map((delivery) => deliverWebhook(deps, messageFor(delivery))))

    expect(codes(deps).filter((code) => code === 'endpoint.slow')).toHaveLength(1)
    expect(lanesOf(deps)).toStrictEqual(deliveries.map(() => 'webhooks-slow'))
  })

  it('is not set where it is set, nor where there is no endpoint', async ({ deps, endpoint }) => {
    const [first, later] = [deps.now(), addMs(deps.now(), 1)]
    const nobody = { ...endpoint, endpointId: crypto.randomUUID() as Endpoint['endpointId'] }

    expect((await deps.table.write(markSlow(endpoint, first))).applied).toBe(true)
    expect((await deps.table.write(markSlow(endpoint, later))).applied).toBe(false)
    expect((await deps.table.write(markSlow(nobody, first))).applied).toBe(false)

    expect(await slowSince(deps, endpoint)).toBe(first)
    expect(await findEndpoint(deps, nobody.clientId, nobody.endpointId)).toBeUndefined()
  })

  it('is not taken off by who has read an older one', async ({ deps, endpoint }) => {
    const [first, later] = [deps.now(), addMs(deps.now(), 1)]
    await deps.table.write(markSlow(endpoint, later))

    expect((await deps.table.write(unmarkSlow({ ...endpoint, slowSince: first }))).applied).toBe(false)
    expect(await slowSince(deps, endpoint)).toBe(later)
  })

  it('that cannot be written costs the delivery nothing: its result is recorded, and its next attempt is in the slow lane', async ({
    deps,
    delivery,
  }) => {
    deps.answerWebhooks(async () => HUNG)
    const throttled = interceptTable(deps, {
      before: (call) => {
        if ('steps' in call && call.steps.some(({ key }) => key.pk.startsWith('ENDPOINTS#')))
          throw new Error('throttled')
      },
    })

    await deliverWebhook(throttled, messageFor(delivery))

    expect(codes(deps)).toStrictEqual(['endpoint.not_marked', 'delivery.failed'])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', attempts: 1 })
    expect(lanesOf(deps)).toStrictEqual(['webhooks-slow'])
  })

  it('stays when an operator changes the endpoint, and keeps nobody from changing it', async () => {
    const { deps, endpoint } = await slowDelivery()

    const { applied } = await deps.table.transact({ endpoint: changeEndpoint(endpoint, { enabled: false }) })

    expect(applied).toBe(true)
    expect(await slowSince(deps, endpoint)).toBe(endpoint.slowSince)
  })
})
