import { describe, expect } from 'vitest'
import type { WebhookResult } from '../../../shared/send-webhook.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { findEndpoint, markSlow, unmarkSlow } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import {
  interceptTable,
  recordTable,
  type TableCall,
  type TestDeps,
  testDeps,
  writtenKeys,
} from '../../support/test-deps.ts'
import { codes, dueDelivery, FAILED, messageFor, rowOf, storedDelivery } from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

/**
 * Goal: a slow endpoint moves to the slow lane, and back when it is fast again. Its deliveries keep their schedule. No
 * worker of the main lane waits for it. Method: each message is handled in its lane, and each condition of `slowSince`
 * refuses once. outages.test.ts tests both lanes under load.
 */

const DELIVERED: WebhookResult = { httpStatus: 200, durationMs: 9 }
const HUNG: WebhookResult = { error: 'timeout', durationMs: 10_000 }
const REFUSED: WebhookResult = { ...HUNG, error: 'connection', durationMs: 3 }

/** A due delivery to an endpoint in the slow lane. */
const slowDelivery = (overrides: Partial<Endpoint> = {}) =>
  dueDelivery({}, { slowSince: addMs(testDeps().now(), -MINUTE_MS), ...overrides })

const slowSince = async (deps: TestDeps, { clientId, endpointId }: Endpoint) =>
  (await findEndpoint(deps, clientId, endpointId))?.slowSince

const lanesOf = ({ sent }: TestDeps) => sent.map(({ queue }) => queue)

it.for([
  ['enters it after no answer in ten seconds', dueDelivery, HUNG, true],
  ['enters it after an error in five seconds', dueDelivery, { ...FAILED, durationMs: 5_000 }, true],
  ['enters it after a 200 in nine seconds', dueDelivery, { ...DELIVERED, durationMs: 9_000 }, true],
  ['enters it after a connection that is closed in six seconds', dueDelivery, { ...REFUSED, durationMs: 6_000 }, true],
  ['does not enter it after an error in less than five seconds', dueDelivery, { ...FAILED, durationMs: 4_999 }, false],
  ['does not enter it after a refused connection', dueDelivery, REFUSED, false],
  ['does not enter it after a fast 200', dueDelivery, DELIVERED, false],
  ['leaves it after a fast 200', slowDelivery, DELIVERED, false],
  ['leaves it after a fast error', slowDelivery, FAILED, false],
  ['stays in it after a refused connection', slowDelivery, REFUSED, true],
] as const)('the slow lane: an endpoint %s', async ([, arrange, answer, isSlow]) => {
  const { deps, endpoint, delivery } = await arrange()
  const { slowSince: before } = endpoint
  deps.answerWebhooks(async () => answer)

  await deliverWebhook(deps, { ...messageFor(delivery), slow: before !== undefined })

  expect(deps.webhooks).toHaveLength(1)
  expect(await slowSince(deps, endpoint)).toBe(isSlow ? (before ?? deps.now()) : undefined)
  const change = isSlow ? 'endpoint.slow' : 'endpoint.answers_again'
  const logged = codes(deps).filter((code) => code.startsWith('endpoint.'))
  expect(logged).toStrictEqual(isSlow === (before !== undefined) ? [] : [change])
  expect(lanesOf(deps)).toStrictEqual(answer.httpStatus === 200 ? [] : [isSlow ? 'webhooks-slow' : 'webhooks'])
})
it('a worker of the main lane moves the message to the slow lane, without an attempt or a write', async () => {
  const { deps, delivery } = await slowDelivery()
  const { deps: watched, calls } = recordTable(deps)

  await deliverWebhook(watched, messageFor(delivery))

  expect(writtenKeys(calls)).toStrictEqual([])
  expect(deps.webhooks).toStrictEqual([])
  expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
  const { deliveryId: delivery_id, clientId: client_id, endpointId: endpoint_id } = delivery
  const body = { delivery_id, attempt: 1, client_id, endpoint_id, slow: true }
  expect(deps.sent).toStrictEqual([{ queue: 'webhooks-slow', message: { body, delaySeconds: 0, group: endpoint_id } }])
})
describe('the mark of a slow endpoint (`slowSince`)', () => {
  it.each([
    ['endpoint.slow', dueDelivery, HUNG],
    ['endpoint.answers_again', slowDelivery, DELIVERED],
  ])('is logged once when two attempts end at the same time: %s', async (code, arrange, answer) => {
    const { deps, endpoint, delivery } = await arrange()
    deps.answerWebhooks(async () => answer)
    const together = [delivery, await storedDelivery(deps, endpoint)]

    await Promise.all(together.map((one) => deliverWebhook(deps, { ...messageFor(one), slow: true })))

    expect(codes(deps).filter((logged) => logged.startsWith('endpoint.'))).toStrictEqual([code])
  })

  it('is set once, and only on an endpoint that exists', async ({ deps, endpoint }) => {
    const first = deps.now()
    const missing = { ...endpoint, endpointId: crypto.randomUUID() as Endpoint['endpointId'] }
    const mark = async (of: Endpoint, at: Timestamp) => (await deps.table.write(markSlow(of, at))).applied

    const marked = [await mark(endpoint, first), await mark(endpoint, addMs(first, 1)), await mark(missing, first)]

    expect(marked).toStrictEqual([true, false, false])
    expect(await slowSince(deps, endpoint)).toBe(first)
    expect(await findEndpoint(deps, missing.clientId, missing.endpointId)).toBeUndefined()
  })

  it('is not removed by a worker that read an older mark', async ({ deps, endpoint }) => {
    const [first, later] = [deps.now(), addMs(deps.now(), 1)]
    await deps.table.write(markSlow(endpoint, later))

    expect((await deps.table.write(unmarkSlow({ ...endpoint, slowSince: first }))).applied).toBe(false)
    expect(await slowSince(deps, endpoint)).toBe(later)
  })

  it('may be missing: the next attempt still goes to the slow lane', async ({ deps, delivery }) => {
    deps.answerWebhooks(async () => HUNG)
    const before = (call: TableCall) => {
      if (writtenKeys([call]).some(({ pk }) => pk.startsWith('ENDPOINTS#'))) throw new Error('throttled')
    }

    await deliverWebhook(interceptTable(deps, { before }), messageFor(delivery))

    expect(codes(deps)).toStrictEqual(['endpoint.not_marked', 'delivery.failed'])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', attempts: 1 })
    expect(lanesOf(deps)).toStrictEqual(['webhooks-slow'])
  })
})
