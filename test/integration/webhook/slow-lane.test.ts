/**
 * Goal: an endpoint that hangs goes to the slow lane and comes back, and its deliveries are made as the schedule says.
 * Method: messages are worked off one by one, each by the lane that it was sent to. Who races whom and dies where is in
 * slow-lane-races.test.ts; that the lanes keep apart under load, in test/simulation/histories/hanging-endpoint.test.ts.
 */
import { describe, expect } from 'vitest'
import type { WebhookResult } from '../../../shared/send-webhook.ts'
import { fanOutEvent } from '../../../shared/webhook/delivery/fan-out-event.ts'
import { redeliver } from '../../../shared/webhook/delivery/redeliver.ts'
import { redeliverToEndpoint } from '../../../shared/webhook/delivery/redeliver-to-endpoint.ts'
import { sendTestEvent } from '../../../shared/webhook/delivery/send-test-event.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  codes,
  DELIVERED,
  deliverNextMessage,
  drainQueue,
  FAILED,
  HUNG,
  lanesOf,
  messageFor,
  rowOf,
  slowDelivery,
  slowSince,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

const REFUSED: WebhookResult = { ...HUNG, error: 'connection', durationMs: 3 }

describe('the slow lane: who goes there', () => {
  it.for([
    ['nothing in its ten seconds', HUNG, true],
    ['an error after five', { ...FAILED, durationMs: 5_000 }, true],
    ['that all is well, after nine', { ...DELIVERED, durationMs: 9_000 }, true],
    ['an end of the connection after six', { ...REFUSED, durationMs: 6_000 }, true],
    ['an error before five are over', { ...FAILED, durationMs: 4_999 }, false],
    ['a connection refused at once', REFUSED, false],
    ['that all is well, at once', DELIVERED, false],
  ] as const)('an endpoint that answered %s', async ([, answer, isSlow], { deps, endpoint, delivery }) => {
    deps.answerWebhooks(async () => answer)

    await deliverWebhook(deps, messageFor(delivery))

    expect(await slowSince(deps, endpoint)).toBe(isSlow ? deps.now() : undefined)
    expect(codes(deps).filter((code) => code.startsWith('endpoint.'))).toStrictEqual(isSlow ? ['endpoint.slow'] : [])
    const next = answer.delivered ? [] : [isSlow ? 'webhooks-slow' : 'webhooks']
    expect(lanesOf(deps)).toStrictEqual(next)
  })

  it('makes its eight attempts there when the schedule says, and is given up after them', async ({
    deps,
    endpoint,
    delivery,
  }) => {
    deps.answerWebhooks(async () => HUNG)
    await deliverWebhook(deps, messageFor(delivery))
    const markedAt = deps.now()
    const waits: [string, number][] = []

    for (let [next] = deps.sent; next; [next] = deps.sent) {
      waits.push([next.queue, next.message.delaySeconds])
      await deliverNextMessage(deps)
    }

    // A wait of more than a quarter of an hour is taken in hops.
    const hops = [60, 120, 240, 480, 900, 60, 900, 900, 120, 900, 900, 900, 900, 240]
    expect(waits).toStrictEqual(hops.map((seconds) => ['webhooks-slow', seconds]))
    expect(deps.webhooks).toHaveLength(8)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: 8 })
    // Said once, however often it hangs.
    expect(await slowSince(deps, endpoint)).toBe(markedAt)
    expect(codes(deps).filter((code) => code === 'endpoint.slow')).toHaveLength(1)
  })

  it.for([
    ['an event', async (deps, { clientId }) => fanOutEvent(deps, await storedEvent(deps, { clientId }))],
    ['a test event', (deps, endpoint) => sendTestEvent(deps, { ...endpoint, operator: 'ayu' })],
    [
      'a redelivery',
      async (deps, endpoint) => {
        const { deliveryId } = await storedDelivery(deps, endpoint, ABANDONED)
        await redeliver(deps, { clientId: endpoint.clientId, deliveryId, operator: 'ayu' })
      },
    ],
    [
      'a redelivery of all that it did not get',
      async (deps, endpoint) => {
        const { clientId } = endpoint
        const [known] = [await storedEvent(deps, { clientId }), await storedEvent(deps, { clientId })]
        await storedDelivery(deps, endpoint, ABANDONED, known)
        const all = { status: undefined, cursor: undefined, operator: 'ayu' }
        await redeliverToEndpoint(deps, { ...endpoint, ...all, since: known.firedAt })
      },
    ],
  ] satisfies readonly (readonly [string, (deps: TestDeps, endpoint: Endpoint) => Promise<unknown>])[])(
    '%s is sent to the lane of its endpoint, as whoever sends it has read that',
    async ([, send]) => {
      const deps = testDeps()
      const clientId = (await storedEndpoint(deps)).clientId
      const slowOne = await storedEndpoint(deps, { clientId, slowSince: deps.now() })

      await send(deps, slowOne)

      for (const { queue, message } of deps.sent) {
        const isSlow = message.group === slowOne.endpointId
        expect(queue).toBe(isSlow ? 'webhooks-slow' : 'webhooks')
        expect(message.body).toMatchObject(isSlow ? { slow: true } : { attempt: 1 })
      }
      expect(deps.sent.some(({ message }) => message.group === slowOne.endpointId)).toBe(true)
    },
  )
})

describe('the slow lane: back from there', () => {
  it.for([
    ['that all is well', DELIVERED],
    ['an error', FAILED],
  ] as const)('an endpoint that answers %s, soon', async ([, answer]) => {
    const { deps, endpoint, delivery } = await slowDelivery()
    deps.answerWebhooks(async () => answer)

    await deliverWebhook(deps, { ...messageFor(delivery), slow: true })

    expect(deps.webhooks).toHaveLength(1)
    expect(await slowSince(deps, endpoint)).toBeUndefined()
    expect(codes(deps)).toContain('endpoint.answers_again')
    expect(lanesOf(deps)).toStrictEqual(answer.delivered ? [] : ['webhooks'])
  })

  it('one that refuses connections stays, as it answers nothing', async () => {
    const { deps, endpoint, delivery } = await slowDelivery()
    deps.answerWebhooks(async () => REFUSED)

    await deliverWebhook(deps, { ...messageFor(delivery), slow: true })

    expect(await slowSince(deps, endpoint)).toBe(endpoint.slowSince)
    expect(lanesOf(deps)).toStrictEqual(['webhooks-slow'])
  })

  it('delivers in the slow lane what was sent there before the endpoint answered again', async () => {
    const { deps, delivery } = await slowDelivery({ slowSince: undefined })

    await deliverWebhook(deps, { ...messageFor(delivery), slow: true })

    expect(deps.sent).toStrictEqual([])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded' })
  })

  it('finds a mark of long ago, takes the next delivery through the slow lane, and is back', async () => {
    const { deps, endpoint, delivery } = await slowDelivery()
    deps.clock.advance(30 * 24 * 3_600)

    await deliverWebhook(deps, messageFor(delivery))
    await drainQueue(deps)

    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded' })
    expect(await slowSince(deps, endpoint)).toBeUndefined()
  })
})
