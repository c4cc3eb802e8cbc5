import { describe, expect } from 'vitest'
import { itemSize } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { judgeDeliveries } from '../../../shared/audit/judged/judge-deliveries.ts'
import { RETENTION } from '../../../shared/event/event.ts'
import { deliveryKey, eventKey } from '../../../shared/table/keys.ts'
import { addMs, expiresAfter, msBetween, SECOND_MS } from '../../../shared/time.ts'
import { attemptsOf } from '../../../shared/webhook/delivery/delivery-store.ts'
import { hopSeconds } from '../../../shared/webhook/send/record-attempt-result.ts'
import { webhookHeaders } from '../../../shared/webhook/send/webhook-headers.ts'
import { alter } from '../../support/tampering.ts'
import {
  afterFirst,
  beforeCommit,
  beforeFirst,
  recordTable,
  type TestDeps,
  testDeps,
} from '../../support/test-deps.ts'
import {
  ABANDONED,
  attemptRows,
  deliver,
  deliverNextMessage,
  drainQueue,
  dueAtOf,
  dueDelivery,
  FAILED,
  listedDelivery,
  logCodes,
  rowOf,
  SIGNING_SECRET,
  sentFor,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('deliver-webhook: one attempt (spec 6.2, 6.3)', () => {
  it('posts the signed event, and records the success in one update', async ({
    deps,
    endpoint,
    event,
    delivery,
  }) => {
    const { deps: recorded, calls } = recordTable(deps)
    const sentAtMs = 1_700_000_000_500

    await deliver({ ...recorded, realNowMs: () => sentAtMs }, delivery)

    expect(delivery.body).toBeUndefined()
    const body = Buffer.from(event.body, 'utf8')
    const headers = webhookHeaders(delivery, { body, signingSecret: SIGNING_SECRET, sentAtMs })
    expect(deps.webhooks).toStrictEqual([{ url: endpoint.url, headers, body }])
    expect(calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'get', 'update', 'update'])
    const row = await rowOf(deps, delivery)
    const success = {
      number: 1,
      at: deps.now(),
      durationMs: 12,
      httpStatus: 200,
      responseBody: 'ok',
    }
    expect(row).toMatchObject({ status: 'succeeded', unlisted: true, attempts: 1, success })
    expect(await attemptsOf(deps, row)).toStrictEqual([success])
    expect(await attemptRows(deps, delivery)).toStrictEqual([])
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
    expect(itemSize(Object(await deps.table.get(deliveryKey(delivery.deliveryId))))).toBeLessThan(
      1_024,
    )
    expect(deps.sent).toStrictEqual([])
    expect(logCodes(deps)).toStrictEqual(['delivery.succeeded'])
  })

  it('records a failure, schedules the next attempt, resets resends, and logs nothing private', async () => {
    const { deps, delivery } = await dueDelivery({ resends: 4 })
    deps.answerWebhooks(async () => {
      deps.clock.advance(10)
      return { ...FAILED, responseBody: 'a-very-private-answer' }
    })

    await deliver(deps, delivery)

    const nextAttemptAt = addMs(deps.now(), 60_000)
    const dueAt = addMs(nextAttemptAt, 60_000)
    expect(await rowOf(deps, delivery)).toStrictEqual({
      ...listedDelivery(delivery),
      attempts: 1,
      nextAttemptAt,
      dueAt,
      resends: 0,
    })
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(dueAt)
    const attempt = {
      ...FAILED,
      number: 1,
      at: delivery.createdAt,
      responseBody: 'a-very-private-answer',
    }
    expect(await attemptRows(deps, delivery)).toStrictEqual([attempt])
    expect(deps.sent).toStrictEqual([sentFor({ ...delivery, attempts: 1 }, 60)])
    const fields = {
      delivery_id: delivery.deliveryId,
      event_id: delivery.eventId,
      endpoint_id: delivery.endpointId,
      client_id: delivery.clientId,
      attempt: 1,
      duration_ms: 9,
      http_status: 500,
      error: 'http_status',
      next_attempt_at: nextAttemptAt,
    }
    expect(deps.lines).toStrictEqual([{ level: 'warn', code: 'delivery.failed', fields }])
  })
})

describe('deliver-webhook: the retry schedule (spec 6.4)', () => {
  it('ends with an answer of 299, which the audit takes for a success', async ({
    deps,
    event,
    delivery,
  }) => {
    deps.answerWebhooks(async () => FAILED)
    await deliver(deps, delivery)
    deps.answerWebhooks(async () => ({ httpStatus: 299, durationMs: 9 }))
    await deliverNextMessage(deps)

    expect(await attemptRows(deps, delivery)).toMatchObject([{}, { httpStatus: 299 }])
    const { clientId, endpointId } = delivery
    const { subject } = event
    const stored = await deps.table.get(eventKey(subject, event.name))
    const item = { ...stored, endpointIds: [endpointId] }
    const judge = () => judgeDeliveries(deps, clientId, [{ subject, item }], 'consistent')
    expect(await judge()).toStrictEqual([])
    await alter(deps, deliveryKey(delivery.deliveryId), { status: 'abandoned' })
    expect(await judge()).toMatchObject([{ what: 'delivery.state' }])
  })

  it('makes eight attempts on schedule, then abandons the delivery, and the alert is due', async ({
    deps,
    event,
    delivery,
  }) => {
    const start = deps.now()
    const atSeconds: number[] = []
    deps.answerWebhooks(async () => {
      atSeconds.push(msBetween(start, deps.now()) / SECOND_MS)
      return FAILED
    })

    await deliver(deps, delivery)
    await drainQueue(deps)

    expect(atSeconds).toStrictEqual([0, 60, 180, 420, 900, 1_860, 3_780, 7_620])
    const attempts = atSeconds.map((second, at) => ({
      number: at + 1,
      at: addMs(start, second * 1_000),
    }))
    expect(await attemptRows(deps, delivery)).toMatchObject(attempts)
    // Due work alerts the operators.
    const abandonedRow = { ...listedDelivery(delivery), ...ABANDONED, dueAt: deps.now() }
    expect(await rowOf(deps, delivery)).toEqual(abandonedRow)
    expect(await dueAtOf(deps, 'alert', delivery.deliveryId)).toBe(deps.now())
    const ttl = expiresAfter(deps.now(), RETENTION.deliveryMs)
    expect(await deps.table.get(deliveryKey(delivery.deliveryId))).toMatchObject({ ttl })
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
    const signature = deps.webhooks[0]?.headers['X-Gateway-Signature']
    const ids = { 'X-Gateway-Signature': signature, 'X-Gateway-Delivery-Id': delivery.deliveryId }
    for (const { body, headers } of deps.webhooks) {
      expect(body.toString('utf8')).toBe(event.body)
      expect(headers).toMatchObject(ids)
    }
    const outcomes = logCodes(deps).filter((code) => /^delivery\.(failed|abandoned)$/.test(code))
    expect(outcomes).toStrictEqual([...Array(7).fill('delivery.failed'), 'delivery.abandoned'])
  })

  it('requeues an early message for its remaining wait, rounded up to a second', async () => {
    const { deps, delivery } = await dueDelivery({ nextAttemptAt: addMs(testDeps().now(), 1_001) })

    await deliver(deps, delivery)

    expect(deps.webhooks).toStrictEqual([])
    expect(deps.sent.map(({ message }) => message.delaySeconds)).toStrictEqual([2])
    expect(logCodes(deps)).toStrictEqual(['delivery.requeued'])
  })

  it('rounds a message delay up to whole seconds, at least one and at most what SQS holds', () => {
    const delays = [-5, 0, 1, 999, 1_000, 1_001, 60_000, 899_001, 900_000, 900_001, 3_840_000]

    expect(delays.map(hopSeconds)).toStrictEqual([1, 1, 1, 1, 1, 2, 60, 900, 900, 900, 900])
  })
})

async function expectClaimLost(...[deps, delivery]: Parameters<typeof attemptRows>) {
  expect(await attemptRows(deps, delivery)).toMatchObject([{ number: 1, error: 'unknown' }])
  const fields = { attempt: 1, reason: 'claim_lost' }
  expect(deps.lines.at(-1)).toMatchObject({ code: 'delivery.dropped', fields })
}

async function die(deps: TestDeps, delivery: Parameters<typeof deliver>[1]) {
  deps.answerWebhooks(() => Promise.reject(new Error('the process died')))
  await expect(deliver(deps, delivery)).rejects.toThrow('the process died')
}

describe('deliver-webhook: crashed and slow workers', () => {
  it('retries a lost attempt after its claim, and a second lost attempt after the backoff', async ({
    deps,
    delivery,
  }) => {
    await die(deps, delivery)
    const claimedAt = deps.now()

    deps.clock.advance(3)
    await deliver(deps, delivery)
    expect(await rowOf(deps, delivery)).toMatchObject({
      attempts: 0,
      claimedUntil: addMs(claimedAt, 15_000),
    })
    expect(deps.sent).toMatchObject([{ message: { body: { attempt: 1 }, delaySeconds: 12 } }])
    await deliverNextMessage(deps)

    const nextAttemptAt = addMs(claimedAt, 15_000)
    expect(await rowOf(deps, delivery)).toStrictEqual({
      ...listedDelivery(delivery),
      attempts: 1,
      nextAttemptAt,
      dueAt: addMs(nextAttemptAt, 60_000),
      lostBefore: true,
    })
    const lostAttempt = { number: 1, at: claimedAt, durationMs: 0, error: 'unknown' }
    expect(await attemptRows(deps, delivery)).toStrictEqual([lostAttempt])
    expect(deps.webhooks).toHaveLength(1)
    expect(deps.sent).toMatchObject([{ message: { body: { attempt: 2 }, delaySeconds: 1 } }])
    await expect(deliverNextMessage(deps)).rejects.toThrow('the process died')
    const secondClaimAt = deps.now()
    deps.clock.advance(15)
    await deliver(deps, delivery, { attempt: 2 })
    expect(await rowOf(deps, delivery)).toMatchObject({
      attempts: 2,
      nextAttemptAt: addMs(secondClaimAt, 120_000),
    })

    // After an answer, the next lost attempt counts as a first loss again.
    deps.clock.advance(105)
    deps.answerWebhooks(async () => FAILED)
    await deliver(deps, delivery, { attempt: 3 })
    expect(await rowOf(deps, delivery)).not.toHaveProperty('lostBefore')
  })

  it('records a lost attempt once when two workers find its expired claim', async ({
    deps,
    delivery,
  }) => {
    await die(deps, delivery)
    deps.clock.advance(15)

    const raced = beforeCommit(deps, () => deliver(deps, delivery))
    await deliver(raced, delivery)

    await expectClaimLost(deps, delivery)
  })

  it('drops an answer that comes after another worker has recorded the attempt as lost', async ({
    deps,
    delivery,
  }) => {
    deps.answerWebhooks(async () => {
      deps.clock.advance(15)
      await deliver(deps, delivery)
      return FAILED
    })

    await deliver(deps, delivery)

    await expectClaimLost(deps, delivery)
  })

  it('claims no attempt later than three seconds after its start', async ({ deps, delivery }) => {
    const slow = beforeFirst(deps, 'batchGet', () => deps.clock.advance(4))

    await expect(deliver(slow, delivery)).rejects.toThrow('too late to claim')

    expect(deps.webhooks).toStrictEqual([])
    expect((await rowOf(deps, delivery)).claimToken).toBeUndefined()
  })

  it('posts nothing after an expired claim, and records a lost attempt', async ({
    deps,
    delivery,
  }) => {
    const slow = afterFirst(deps, 'update', () => deps.clock.advance(15))

    await deliver(slow, delivery)

    expect(deps.webhooks).toStrictEqual([])
    expect(await attemptsOf(deps, await rowOf(deps, delivery))).toMatchObject([
      { number: 1, error: 'unknown' },
    ])
  })
})
