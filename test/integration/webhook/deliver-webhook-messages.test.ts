import { describe, expect } from 'vitest'
import { RETENTION } from '../../../shared/event/event.ts'
import { findEventBody } from '../../../shared/event/event-store.ts'
import type { WebhookResult } from '../../../shared/send-webhook.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { deliveryKey, endpointKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { addMs, expiresAfter, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import {
  changeEndpoint,
  findEndpoint,
  markDeleted,
  moveMark,
} from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import {
  interceptTable,
  recordTable,
  type TableCall,
  type TestDeps,
  testDeps,
  writtenKeys,
} from '../../support/test-deps.ts'
import {
  anEvent,
  attemptRows,
  codes,
  drainQueue,
  dueAtOf,
  dueDelivery,
  FAILED,
  messageFor,
  rowOf,
  sentFor,
  storedDelivery,
  storedEndpoint,
  storedEvent,
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
      'no delivery',
      {},
      { deliveryId: crypto.randomUUID() as Delivery['deliveryId'] },
      'unknown_delivery',
    ],
  ] as const)('drops a message about %s', async (_case, overrides, about, reason) => {
    const { deps, delivery } = await dueDelivery(overrides)

    await deliverWebhook(deps, { ...messageFor(delivery), ...about })

    expect([deps.webhooks, deps.sent]).toStrictEqual([[], []])
    expect(deps.lines).toMatchObject([{ code: 'delivery.dropped', fields: { reason } }])
  })

  it('refuses a message that names another endpoint than its delivery', async ({
    deps,
    endpoint,
    delivery,
  }) => {
    const other = await storedEndpoint(deps, { clientId: endpoint.clientId, enabled: false })
    const { deps: watched, calls } = recordTable(deps)

    const misled = deliverWebhook(watched, {
      ...messageFor(delivery),
      endpointId: other.endpointId,
    })
    await expect(misled).rejects.toThrow('a message names the endpoint of its delivery')
    await deliverWebhook(watched, messageFor(delivery))

    expect(deps.webhooks.map(({ url }) => url)).toStrictEqual([endpoint.url])
    expect(calls.map(({ name }) => name).join()).toBe('batchGet,batchGet,get,update,update')
  })
})

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
      await deliverWebhook(deps, messageFor(delivery))
      await deps.table.transact<string>(change(endpoint))

      await drainQueue(deps)

      expect(deps.webhooks).toHaveLength(1)
      expect(await rowOf(deps, delivery)).toMatchObject({ status: 'skipped', attempts: 1 })
      const ttl = expiresAfter(deps.now(), RETENTION.deliveryMs)
      expect(await deps.table.get(deliveryKey(delivery.deliveryId))).toMatchObject({ ttl })
      expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
      expect(deps.published).toStrictEqual([])
      expect(codes(deps).at(-1)).toBe('delivery.skipped')
    },
  )

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
      await deps.table.write(update(endpointKey(delivery), await change(deps), exists))

      await deliverWebhook(deps, messageFor(delivery))

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
    const { deps: watched, calls } = recordTable(deps)

    await deliverWebhook(watched, messageFor(orphan))

    expect(await rowOf(deps, orphan)).toMatchObject({ status: 'skipped', attempts: 1 })
    const attempt = { number: 1, at: deps.now(), durationMs: 0, error: 'event_gone' }
    expect(await attemptRows(deps, orphan)).toStrictEqual([attempt])
    expect(await dueAtOf(deps, 'delivery', orphan.deliveryId)).toBeUndefined()
    expect(deps.webhooks).toStrictEqual([])
    // Delivery with endpoint, the body twice (cheaply, and then for certain), the claim, the finding, and the attempt.
    expect(calls.map(({ name }) => name).join()).toBe('batchGet,get,get,update,put,transact')
    expect(codes(deps)).toStrictEqual(['suspense.recorded', 'delivery.skipped'])
    const found = await findSuspense(deps, `${orphan.eventId}#event_gone`)
    expect(found).toMatchObject({
      kind: 'finding',
      cause: 'event_gone',
      paymentId: orphan.paymentId,
      status: 'open',
    })
  })

  it('reads the bytes of an event once in ten seconds, and again after a failed read', async ({
    deps,
    event,
  }) => {
    const reads: TableCall[] = []
    const seen = interceptTable(deps, {
      before: (call) => {
        if (reads.push(call) === 1) throw new Error('throttled')
      },
    })
    const find = ({ paymentId, name } = event) => findEventBody(seen, { paymentId, name })

    const failures = await Promise.allSettled([find(), find()])
    const other = await storedEvent(deps)
    const found = []
    for (const [seconds, of] of [[0], [0, other], [9.999], [0.001]] as const) {
      deps.clock.advance(seconds)
      found.push([...new Set(await Promise.all([find(of), find(of)])), reads.length])
    }

    expect(failures.map(({ status }) => status)).toStrictEqual(['rejected', 'rejected'])
    const { body } = event
    expect(found.flat()).toStrictEqual([body, 2, other.body, 3, body, 3, body, 4])
  })
})

/**
 * Goal: a slow endpoint moves to the slow lane, and back when it is fast again. Its deliveries keep their schedule. No
 * worker of the main lane waits for it. Method: each message is handled in its lane, and each condition of `slowSince`
 * refuses once. outages.test.ts tests both lanes under load.
 */

const DELIVERED: WebhookResult = { httpStatus: 200, durationMs: 9 }
const HUNG: WebhookResult = { error: 'timeout', durationMs: 10_000 }
const REFUSED: WebhookResult = { ...HUNG, error: 'connection', durationMs: 3 }

/** A due delivery to an endpoint in the slow lane. */
function slowDelivery(overrides: Partial<Endpoint> = {}) {
  return dueDelivery({}, { slowSince: addMs(testDeps().now(), -MINUTE_MS), ...overrides })
}

async function slowSince(deps: TestDeps, endpoint: Endpoint) {
  return (await findEndpoint(deps, endpoint))?.slowSince
}

it.for([
  ['enters it after no answer in ten seconds', dueDelivery, HUNG, true],
  ['enters it after an error in five seconds', dueDelivery, { ...FAILED, durationMs: 5_000 }, true],
  ['enters it after a 200 in nine seconds', dueDelivery, { ...DELIVERED, durationMs: 9_000 }, true],
  [
    'enters it after a connection that is closed in six seconds',
    dueDelivery,
    { ...REFUSED, durationMs: 6_000 },
    true,
  ],
  [
    'does not enter it after an error in less than five seconds',
    dueDelivery,
    { ...FAILED, durationMs: 4_999 },
    false,
  ],
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
  expect(deps.sent).toMatchObject(
    answer.httpStatus === 200 ? [] : [{ queue: isSlow ? 'webhooks-slow' : 'webhooks' }],
  )
})

it('a worker of the main lane moves the message to the slow lane, without an attempt or a write', async () => {
  const { deps, delivery } = await slowDelivery()
  const { deps: watched, calls } = recordTable(deps)

  await deliverWebhook(watched, messageFor(delivery))

  expect(writtenKeys(calls)).toStrictEqual([])
  expect(deps.webhooks).toStrictEqual([])
  expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
  expect(deps.sent).toStrictEqual([sentFor(delivery, 0, true)])
})

describe('the mark of a slow endpoint (`slowSince`)', () => {
  it.each([
    ['endpoint.slow', dueDelivery, HUNG],
    ['endpoint.answers_again', slowDelivery, DELIVERED],
  ])('is logged once when two attempts end at the same time: %s', async (code, arrange, answer) => {
    const { deps, endpoint, delivery } = await arrange()
    deps.answerWebhooks(async () => answer)
    const together = [delivery, await storedDelivery(deps, endpoint)]

    await Promise.all(
      together.map((one) => deliverWebhook(deps, { ...messageFor(one), slow: true })),
    )

    expect(codes(deps).filter((logged) => logged.startsWith('endpoint.'))).toStrictEqual([code])
  })

  it('is set once, and only on an endpoint that exists', async ({ deps, endpoint }) => {
    const first = deps.now()
    const missing = { ...endpoint, endpointId: crypto.randomUUID() as Endpoint['endpointId'] }
    const mark = async (of: Endpoint, at: Timestamp) =>
      (await deps.table.write(moveMark(of, 'slowSince', at))).applied

    const marked = [
      await mark(endpoint, first),
      await mark(endpoint, addMs(first, 1)),
      await mark(missing, first),
    ]

    expect(marked).toStrictEqual([true, false, false])
    expect(await slowSince(deps, endpoint)).toBe(first)
    expect(await findEndpoint(deps, missing)).toBeUndefined()
  })

  it('is not removed by a worker that read an older mark', async ({ deps, endpoint }) => {
    const [first, later] = [deps.now(), addMs(deps.now(), 1)]
    await deps.table.write(moveMark(endpoint, 'slowSince', later))

    expect(
      (await deps.table.write(moveMark({ ...endpoint, slowSince: first }, 'slowSince', undefined)))
        .applied,
    ).toBe(false)
    expect(await slowSince(deps, endpoint)).toBe(later)
  })

  it('may be missing: the next attempt still goes to the slow lane', async ({ deps, delivery }) => {
    deps.answerWebhooks(async () => HUNG)
    const before = (call: TableCall) => {
      if (writtenKeys([call]).some(({ pk }) => pk.startsWith('ENDPOINTS#')))
        throw new Error('throttled')
    }

    await deliverWebhook(interceptTable(deps, { before }), messageFor(delivery))

    expect(codes(deps)).toStrictEqual(['endpoint.not_marked', 'delivery.failed'])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', attempts: 1 })
    expect(deps.sent).toMatchObject([{ queue: 'webhooks-slow' }])
  })
})
