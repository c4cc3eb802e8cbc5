/**
 * Goal: a slow endpoint moves to the slow lane, and back when the endpoint is fast again. The
 * endpoint's deliveries keep their schedule. No worker of the main lane waits for the endpoint.
 * Method: each message is handled in its lane, and each condition of `slowSince` refuses once.
 * outages.test.ts tests both lanes under load.
 */
import { describe, expect } from 'vitest'
import type { WebhookResult } from '../../../shared/send-webhook.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { findEndpoint, moveMark } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import {
  interceptTable,
  recordTable,
  type TableCall,
  type TestDeps,
  testDeps,
  writtenKeys,
} from '../../support/test-deps.ts'
import {
  deliver,
  dueDelivery,
  FAILED,
  logCodes,
  rowOf,
  sentFor,
  storedDelivery,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

const DELIVERED = { httpStatus: 200, durationMs: 9 }
const HUNG: WebhookResult = { error: 'timeout', durationMs: 10_000 }
const REFUSED: WebhookResult = { ...HUNG, error: 'connection', durationMs: 3 }

function slowDelivery(overrides: Partial<Endpoint> = {}) {
  return dueDelivery({}, { slowSince: addMs(testDeps().now(), -MINUTE_MS), ...overrides })
}

async function slowSince(deps: TestDeps, endpoint: Endpoint) {
  return (await findEndpoint(deps, endpoint))?.slowSince
}

it.for([
  ['enters after no answer in ten seconds', dueDelivery, HUNG, true],
  ['enters after an error in five seconds', dueDelivery, { ...FAILED, durationMs: 5_000 }, true],
  ['enters after a 200 in nine seconds', dueDelivery, { ...DELIVERED, durationMs: 9_000 }, true],
  [
    'does not enter after an error in less than five seconds',
    dueDelivery,
    { ...FAILED, durationMs: 4_999 },
    false,
  ],
  ['does not enter after a refused connection', dueDelivery, REFUSED, false],
  ['leaves after a fast 200', slowDelivery, DELIVERED, false],
  ['leaves after a fast error', slowDelivery, FAILED, false],
  ['stays after a refused connection', slowDelivery, REFUSED, true],
] as const)('the slow lane: an endpoint %s', async ([, arrange, answer, isSlow]) => {
  const { deps, endpoint, delivery } = await arrange()
  const { slowSince: slowBefore } = endpoint
  deps.answerWebhooks(async () => answer)

  await deliver(deps, delivery, { slow: slowBefore !== undefined })

  expect(deps.webhooks).toHaveLength(1)
  expect(await slowSince(deps, endpoint)).toBe(isSlow ? (slowBefore ?? deps.now()) : undefined)
  expect(logCodes(deps).filter((code) => code.startsWith('endpoint.'))).toStrictEqual(
    isSlow === (slowBefore !== undefined)
      ? []
      : [isSlow ? 'endpoint.slow' : 'endpoint.answers_again'],
  )
  expect(deps.sent).toMatchObject(
    answer.httpStatus === 200 ? [] : [{ queue: isSlow ? 'webhooks-slow' : 'webhooks' }],
  )
})

it('a worker of the main lane moves the message to the slow lane, without an attempt or a write', async () => {
  const { deps, delivery } = await slowDelivery()
  const { deps: recorded, calls } = recordTable(deps)

  await deliver(recorded, delivery)

  expect(writtenKeys(calls)).toStrictEqual([])
  expect(deps.webhooks).toStrictEqual([])
  expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
  expect(deps.sent).toStrictEqual([sentFor(delivery, 0, true)])
  // It may wait there: due work does not call it overdue.
  await checkOverdueDelivery(deps, delivery)
  expect(logCodes(deps)).toStrictEqual(['delivery.requeued'])
})

describe('the mark of a slow endpoint (`slowSince`)', () => {
  it.each([
    ['endpoint.slow', dueDelivery, HUNG],
    ['endpoint.answers_again', slowDelivery, DELIVERED],
  ])('is logged once when two attempts end at the same time: %s', async (code, arrange, answer) => {
    const { deps, endpoint, delivery } = await arrange()
    deps.answerWebhooks(async () => answer)
    const deliveries = [delivery, await storedDelivery(deps, endpoint)]

    await Promise.all(deliveries.map((due) => deliver(deps, due, { slow: true })))

    expect(logCodes(deps).filter((logged) => logged.startsWith('endpoint.'))).toStrictEqual([code])
  })

  it('changes only as it was read, and only on an endpoint that exists', async ({
    deps,
    endpoint,
  }) => {
    const first = deps.now()
    const missing = { ...endpoint, endpointId: crypto.randomUUID() as Endpoint['endpointId'] }
    const mark = async (target: Endpoint, at?: Timestamp) =>
      (await deps.table.write(moveMark(target, 'slowSince', at))).applied

    const marked = [
      await mark(endpoint, first),
      await mark(endpoint, addMs(first, 1)),
      await mark(missing, first),
      await mark({ ...endpoint, slowSince: addMs(first, -1) }),
    ]

    expect(marked).toStrictEqual([true, false, false, false])
    expect(await slowSince(deps, endpoint)).toBe(first)
    expect(await findEndpoint(deps, missing)).toBeUndefined()
  })

  it('may be missing: the next attempt still goes to the slow lane', async ({ deps, delivery }) => {
    deps.answerWebhooks(async () => HUNG)
    const before = (call: TableCall) => {
      if (writtenKeys([call]).some(({ pk }) => pk.startsWith('ENDPOINTS#')))
        throw new Error('throttled')
    }

    await deliver(interceptTable(deps, { before }), delivery)

    expect(logCodes(deps)).toStrictEqual(['endpoint.not_marked', 'delivery.failed'])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', attempts: 1 })
    expect(deps.sent).toMatchObject([{ queue: 'webhooks-slow' }])
  })
})
