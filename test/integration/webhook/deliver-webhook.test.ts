import { execFileSync } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import { describe, expect } from 'vitest'
import { addMs, msBetween, SECOND_MS } from '../../../shared/time.ts'
import { listAttempts } from '../../../shared/webhook/delivery/delivery-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { httpsWebhookSender } from '../../../shared/webhook/send/https-webhook-sender.ts'
import { json, startScriptedServer } from '../../support/scripted-server.ts'
import { testDeps } from '../../support/test-deps.ts'
import {
  codes,
  deliverNextMessage,
  drainQueue,
  dueAtOf,
  dueDelivery,
  FAILED,
  messageFor,
  rowOf,
  SIGNING_SECRET,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('deliver-webhook: one attempt (spec 6.2, 6.3)', () => {
  it('posts the stored bytes with the headers of the specification, and records the success', async ({
    deps,
    endpoint,
    delivery,
  }) => {
    const realNowMs = () => 1_700_000_000_500

    await deliverWebhook({ ...deps, realNowMs }, messageFor(delivery))

    const text = delivery.body ?? ''
    const body = Buffer.from(text, 'utf8')
    const bytes = Buffer.from(SIGNING_SECRET.slice('whsec_'.length), 'base64url')
    const key = Buffer.from(SIGNING_SECRET, 'utf8').toString('hex')
    const dgst = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`]
    const signature = execFileSync('openssl', dgst, { input: body }).toString().trim().split(' ').at(-1)
    expect(deps.webhooks).toStrictEqual([
      {
        url: endpoint.url,
        headers: {
          'Content-Type': 'application/json',
          'X-Gateway-Event': 'payment.succeeded',
          'X-Gateway-Signature': signature,
          'X-Gateway-Delivery-Id': delivery.deliveryId,
          'webhook-id': delivery.eventId,
          'webhook-timestamp': '1700000000',
          'webhook-signature': new Webhook(bytes, { format: 'raw' }).sign(
            delivery.eventId,
            new Date(realNowMs()),
            text,
          ),
        },
        body,
      },
    ])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([
      { number: 1, at: deps.now(), durationMs: 12, httpStatus: 200, responseBody: 'ok' },
    ])
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
    expect(deps.sent).toStrictEqual([])
    expect(codes(deps)).toStrictEqual(['delivery.succeeded'])
  })

  it('reaches a real server, which can verify what it got', async () => {
    const server = await startScriptedServer(json(200, { received: true }))
    const { deps, delivery } = await dueDelivery({}, { url: `${server.url}/hooks` })
    const sendWebhook = httpsWebhookSender({
      allowLoopback: true,
      monotonicMs: () => performance.now(),
      nowMs: Date.now,
    })

    await deliverWebhook({ ...deps, sendWebhook }, messageFor(delivery))

    const [request] = server.requests
    expect(request?.body).toBe(delivery.body)
    expect(request?.headers['x-gateway-event']).toBe('payment.succeeded')
    expect(request?.headers['x-gateway-signature']).toMatch(/^[0-9a-f]{64}$/)
    expect(request?.headers['x-gateway-delivery-id']).toBe(delivery.deliveryId)
    expect(await listAttempts(deps, delivery.deliveryId)).toMatchObject([
      { httpStatus: 200, responseBody: '{"received":true}' },
    ])
  })

  it('records a failure, schedules the next attempt, and writes no body, secret or URL to the log', async ({
    deps,
    endpoint,
    delivery,
  }) => {
    deps.answerWebhooks(async () => ({ ...FAILED, responseBody: 'a-very-private-answer' }))

    await deliverWebhook(deps, messageFor(delivery))

    const nextAttemptAt = addMs(deps.now(), 60_000)
    const next = { attempts: 1, nextAttemptAt, dueAt: addMs(nextAttemptAt, 120_000) }
    expect(await rowOf(deps, delivery)).toStrictEqual({ ...delivery, ...next })
    const { delivered: _, ...failed } = FAILED
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([
      { ...failed, number: 1, at: deps.now(), responseBody: 'a-very-private-answer' },
    ])
    const { deliveryId: delivery_id, clientId: client_id, endpointId: endpoint_id } = delivery
    const body = { delivery_id, attempt: 2, client_id, endpoint_id }
    expect(deps.sent).toStrictEqual([
      { queue: 'webhooks', message: { body, delaySeconds: 60, group: endpoint.endpointId } },
    ])
    expect(deps.lines).toStrictEqual([
      {
        level: 'warn',
        code: 'delivery.failed',
        fields: {
          delivery_id: delivery.deliveryId,
          event_id: delivery.eventId,
          endpoint_id: endpoint.endpointId,
          client_id: endpoint.clientId,
          attempt: 1,
          duration_ms: 9,
          http_status: 500,
          error: 'http_status',
          next_attempt_at: nextAttemptAt,
        },
      },
    ])
  })
})

describe('deliver-webhook: the retry schedule (spec 6.4)', () => {
  it('makes eight attempts at the waits of the specification, to the second, then abandons and alerts once', async ({
    deps,
    endpoint,
    delivery,
  }) => {
    const start = deps.now()
    const atSeconds: number[] = []
    deps.answerWebhooks(async () => {
      atSeconds.push(msBetween(start, deps.now()) / SECOND_MS)
      return FAILED
    })

    await deliverWebhook(deps, messageFor(delivery))
    await drainQueue(deps)

    const waits = [0, 60, 120, 240, 480, 960, 1_920, 3_840]
    let passed = 0
    const expected = waits.map((wait) => (passed += wait))
    expect(atSeconds).toStrictEqual(expected)
    expect(await listAttempts(deps, delivery.deliveryId)).toMatchObject(
      expected.map((second, at) => ({ number: at + 1, at: addMs(start, second * 1_000) })),
    )
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: 8 })
    expect(deps.published).toStrictEqual([
      {
        kind: 'delivery.abandoned',
        subject: endpoint.endpointId,
        message: expect.stringContaining(
          `To endpoint ${endpoint.endpointId} of client ${endpoint.clientId}, abandoned after their last attempt: ` +
            `1 delivery, the first at ${deps.now()}: ${delivery.deliveryId}. The merchant does not know of these events`,
        ),
      },
    ])
    expect(await dueAtOf(deps, 'alert', delivery.deliveryId)).toBeUndefined()
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
    expect(new Set(deps.webhooks.map(({ body }) => body.toString('utf8')))).toStrictEqual(new Set([delivery.body]))
    expect(new Set(deps.webhooks.map(({ headers }) => headers['X-Gateway-Signature'])).size).toBe(1)
  })

  it('takes waits longer than 15 minutes in hops that end to the second', async () => {
    const { deps, delivery } = await dueDelivery({ attempts: 6 })
    deps.answerWebhooks(async () => FAILED)
    await deliverWebhook(deps, messageFor(delivery))
    const delays: number[] = []
    while (deps.webhooks.length === 1) {
      delays.push(deps.sent[0]?.message.delaySeconds ?? 0)
      await deliverNextMessage(deps)
    }

    expect(delays).toStrictEqual([900, 900, 900, 900, 240])
    expect(codes(deps).filter((code) => code === 'delivery.requeued')).toHaveLength(4)
  })

  it('sends again for the rest of a wait, rounded up, when a message comes early', async () => {
    const { deps, delivery } = await dueDelivery({ nextAttemptAt: addMs(testDeps().now(), 1_001) })

    await deliverWebhook(deps, messageFor(delivery))

    expect(deps.webhooks).toStrictEqual([])
    expect(deps.sent.map(({ message }) => message.delaySeconds)).toStrictEqual([2])
  })

  it('stops at the first success', async ({ deps, delivery }) => {
    let tried = 0
    deps.answerWebhooks(async () =>
      ++tried < 3 ? FAILED : { ...FAILED, delivered: true, httpStatus: 200, error: undefined },
    )

    await deliverWebhook(deps, messageFor(delivery))
    await drainQueue(deps)

    expect(deps.webhooks).toHaveLength(3)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded', attempts: 3 })
    expect(deps.published).toStrictEqual([])
  })

  it('gives a later round eight attempts of its own', async () => {
    const { deps, delivery } = await dueDelivery({ attempts: 8, roundStart: 8 })
    deps.answerWebhooks(async () => FAILED)

    await deliverWebhook(deps, messageFor(delivery))
    await drainQueue(deps)

    expect(deps.webhooks).toHaveLength(8)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: 16 })
    const numbers = (await listAttempts(deps, delivery.deliveryId)).map(({ number }) => number)
    expect(numbers).toStrictEqual([9, 10, 11, 12, 13, 14, 15, 16])
  })
})
