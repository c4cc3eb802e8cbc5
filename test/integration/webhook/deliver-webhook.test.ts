import { execFileSync } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import { describe, expect } from 'vitest'
import { addMs, msBetween, SECOND_MS } from '../../../shared/time.ts'
import { attemptsOf, listAttempts } from '../../../shared/webhook/delivery/attempt-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { testDeps } from '../../support/test-deps.ts'
import {
  codes,
  deliverNextMessage,
  drainQueue,
  dueAtOf,
  dueDelivery,
  FAILED,
  listed,
  messageFor,
  rowOf,
  SIGNING_SECRET,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('deliver-webhook: one attempt (spec 6.2, 6.3)', () => {
  it('posts the stored bytes with the specified headers, and records it', async ({
    deps,
    endpoint,
    event,
    delivery,
  }) => {
    const realNowMs = () => 1_700_000_000_500

    await deliverWebhook({ ...deps, realNowMs }, messageFor(delivery))

    const body = Buffer.from(event.body, 'utf8')
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
            event.body,
          ),
        },
        body,
      },
    ])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect(await attemptsOf(deps, await rowOf(deps, delivery))).toStrictEqual([
      { number: 1, at: deps.now(), durationMs: 12, httpStatus: 200, responseBody: 'ok' },
    ])
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
    expect(deps.sent).toStrictEqual([])
    expect(codes(deps)).toStrictEqual(['delivery.succeeded'])
  })

  it('records a failure, schedules the next, and logs nothing private', async ({ deps, endpoint, delivery }) => {
    deps.answerWebhooks(async () => ({ ...FAILED, responseBody: 'a-very-private-answer' }))

    await deliverWebhook(deps, messageFor(delivery))

    const nextAttemptAt = addMs(deps.now(), 60_000)
    const next = { attempts: 1, nextAttemptAt, dueAt: addMs(nextAttemptAt, 60_000) }
    expect(await rowOf(deps, delivery)).toStrictEqual({ ...listed(delivery), ...next })
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
  it('makes eight attempts, to the second, then abandons, and the alert is due', async ({ deps, event, delivery }) => {
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
    // The operators are told by due work.
    expect(await dueAtOf(deps, 'alert', delivery.deliveryId)).toBe(deps.now())
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
    expect(new Set(deps.webhooks.map(({ body }) => body.toString('utf8')))).toStrictEqual(new Set([event.body]))
    expect(new Set(deps.webhooks.map(({ headers }) => headers['X-Gateway-Signature'])).size).toBe(1)
  })

  it('sends again for the rest of a wait, rounded up, when a message comes early', async () => {
    const { deps, delivery } = await dueDelivery({ nextAttemptAt: addMs(testDeps().now(), 1_001) })

    await deliverWebhook(deps, messageFor(delivery))

    expect(deps.webhooks).toStrictEqual([])
    expect(deps.sent.map(({ message }) => message.delaySeconds)).toStrictEqual([2])
    expect(codes(deps)).toStrictEqual(['delivery.requeued'])
  })
})

const dies = () => Promise.reject(new Error('the process died'))

describe('deliver-webhook: workers that die or sleep', () => {
  it('leaves a claim when it dies after the POST; the next attempt is due when that ends', async ({
    deps,
    delivery,
  }) => {
    deps.answerWebhooks(dies)
    await expect(deliverWebhook(deps, messageFor(delivery))).rejects.toThrow('the process died')
    const claimedAt = deps.now()

    deps.clock.advance(3)
    await deliverWebhook(deps, messageFor(delivery))
    expect(await rowOf(deps, delivery)).toMatchObject({ attempts: 0, claimedUntil: addMs(claimedAt, 15_000) })
    expect(deps.sent).toMatchObject([{ message: { body: { attempt: 1 }, delaySeconds: 12 } }])
    await deliverNextMessage(deps)

    const nextAttemptAt = addMs(claimedAt, 15_000)
    const next = { attempts: 1, nextAttemptAt, dueAt: addMs(nextAttemptAt, 60_000), lostBefore: true }
    expect(await rowOf(deps, delivery)).toStrictEqual({ ...listed(delivery), ...next })
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([
      { number: 1, at: claimedAt, durationMs: 0, error: 'unknown' },
    ])
    expect(deps.webhooks).toHaveLength(1)
    expect(deps.sent).toMatchObject([{ message: { body: { attempt: 2 }, delaySeconds: 1 } }])
  })

  it('waits as after a failure when two workers in a row died, from when the second was at it', async ({
    deps,
    delivery,
  }) => {
    deps.answerWebhooks(dies)
    await deliverWebhook(deps, messageFor(delivery)).catch(() => {})
    deps.clock.advance(15)
    await deliverWebhook(deps, messageFor(delivery))
    await deliverNextMessage(deps).catch(() => {})
    const secondAt = deps.now()

    deps.clock.advance(15)
    await deliverWebhook(deps, messageFor(await rowOf(deps, delivery)))

    expect(await rowOf(deps, delivery)).toMatchObject({ attempts: 2, nextAttemptAt: addMs(secondAt, 120_000) })
  })

  it('claims nothing more than three seconds after it began', async ({ deps, delivery }) => {
    let slowMs = 0
    const slow = { ...deps, monotonicMs: () => (slowMs += 3_001) }

    await expect(deliverWebhook(slow, messageFor(delivery))).rejects.toThrow('too late to claim')

    expect(deps.webhooks).toStrictEqual([])
    expect((await rowOf(deps, delivery)).claimToken).toBeUndefined()
  })

  it('posts nothing under a claim whose answer came after its end, and records the attempt as lost', async ({
    deps,
    delivery,
  }) => {
    const slow = interceptTable(deps, {
      after: ({ name }) => {
        if (name === 'update') deps.clock.advance(15)
      },
    })

    await deliverWebhook(slow, messageFor(delivery))

    expect(deps.webhooks).toStrictEqual([])
    expect(await attemptsOf(deps, await rowOf(deps, delivery))).toMatchObject([{ number: 1, error: 'unknown' }])
  })

  it('makes eight POSTs in a round even when every worker dies after its own', async ({ deps, delivery }) => {
    deps.answerWebhooks(dies)

    for (let tried = 0; tried < 40; tried++) {
      await deliverWebhook(deps, messageFor(await rowOf(deps, delivery))).catch(() => {})
      deps.clock.advance(3_900)
    }

    expect(deps.webhooks).toHaveLength(8)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: 8 })
  })

  it('never overwrites a result when it wakes after its claim ran out', async ({ deps, delivery }) => {
    const sleeper = Promise.withResolvers<void>()
    deps.answerWebhooks(async () => {
      await sleeper.promise
      return { ...FAILED, delivered: true, httpStatus: 200, error: undefined }
    })
    const late = deliverWebhook(deps, messageFor(delivery))
    while ((await rowOf(deps, delivery)).claimToken === undefined) await deps.clock.sleep(0)
    deps.clock.advance(16)
    await deliverWebhook(deps, messageFor(delivery))
    const recorded = await rowOf(deps, delivery)

    sleeper.resolve()
    await late

    expect(await rowOf(deps, delivery)).toStrictEqual(recorded)
    expect(await listAttempts(deps, delivery.deliveryId)).toMatchObject([{ number: 1, error: 'unknown' }])
    expect(deps.sent).toHaveLength(1)
    expect(deps.lines.at(-1)).toMatchObject({ code: 'delivery.dropped', fields: { reason: 'claim_lost' } })
  })
})
