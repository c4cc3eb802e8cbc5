/**
 * Goal: all due work is found within a minute, and workers of its kind do it, its owners in turn. Two workers on one
 * slot, a duplicate message or a death do no harm. Method: real handlers; each test delivers the messages itself.
 */
import { describe, expect, it } from 'vitest'
import { handler as dueAlerts } from '../../../functions/queue/check-due-alerts.ts'
import { handler as dueDeliveries } from '../../../functions/queue/check-due-deliveries.ts'
import { handler as duePayments } from '../../../functions/queue/check-due-payments.ts'
import type { Client } from '../../../shared/client/client.ts'
import { checkDueWork } from '../../../shared/due-work/check-due-work.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment, PaymentRequest } from '../../../shared/payment/payment.ts'
import { heldMoney } from '../../../shared/suspense/record-suspense.ts'
import { putSuspense } from '../../../shared/suspense/suspense-store.ts'
import { pausesKey, paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, MINUTE_MS, type Timestamp, timestampOf } from '../../../shared/time.ts'
import { createPrng } from '../../simulation/world/prng.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { interceptTable, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

const LIFE_S = 600
/** Only a cancel ends such a payment. */
const QRIS: Partial<PaymentRequest> = {
  method: 'qris',
  channelCode: undefined,
  expiresInSeconds: LIFE_S,
}
const DANA: Partial<PaymentRequest> = { method: 'ewallet', channelCode: 'DANA' }

/** Unpaid payments, all in one slot, so that one worker has them all. */
async function unpaid(deps: TestDeps, client: Client, count: number, request = QRIS) {
  const payments = await Array.fromAsync({ length: count }, () =>
    aPendingPayment(deps, client, request),
  )
  for (const { paymentId } of payments)
    await deps.table.write(update(paymentKey(paymentId), { set: { slot: 3 } }))
  return payments
}

/** `count` pending payments of one client; those by QRIS are due now. `worker`: one of their slot. Draws the same each time. */
async function aFlood(count: number, providerCallsPerMinute = 600, request = QRIS) {
  const { uuid: newId, int } = createPrng(20_261_125)
  const deps = memoryDeps({
    stage: { providerCallsPerMinute },
    newId,
    random: () => int(0, 99) / 100,
  })
  const payments = await unpaid(deps, await aStoredClient(deps), count, request)
  deps.clock.advance(LIFE_S)
  return {
    deps,
    payments,
    expired: () =>
      deps.stored.items('PAYMENT#').filter(({ status }) => status === 'expired').length,
    dueTimes: (of: Payment[]) =>
      of.map(({ paymentId }) => deps.stored.item(paymentKey(paymentId))?.['due_at']),
    worker: (as: TestDeps = deps, share: object = { slot: 3, part: 0, parts: 1 }) =>
      workOn(as, 'due-payments', share),
  }
}

const WORKERS = {
  'due-payments': duePayments,
  'due-deliveries': dueDeliveries,
  'due-alerts': dueAlerts,
} as const
function workOn(deps: TestDeps, queue: keyof typeof WORKERS, body: object) {
  return WORKERS[queue].withDeps(deps)(
    { Records: [{ messageId: 'm', body: JSON.stringify(body) }] } as never,
    {} as never,
  )
}

function idsCancelled({ provider }: TestDeps) {
  return provider.calls.flatMap(({ operation, id }) => (operation === 'cancelRequest' ? [id] : []))
}

/** A payment, a delivery whose message was lost, and money without its alert: all due. */
async function oneOfEachKind() {
  const { deps } = await aFlood(1)
  await storedDelivery(deps, await storedEndpoint(deps))
  const capture = { providerPaymentId: 'py-held', capturedMinor: minor(1_000) }
  await putSuspense(
    deps,
    heldMoney({ capture, cause: 'unknown_reference', payment: undefined, now: deps.now() }),
  )
  deps.clock.advance(300)
  return deps
}

describe('checkDueWork (design section 4)', () => {
  it('sends each slot to workers of its kind, which do all items, and logs the wait of the oldest item', async () => {
    const deps = await oneOfEachKind()

    expect(await checkDueWork(deps)).toStrictEqual({ alert: 1, delivery: 1, payment: 1, audit: 0 })
    const late = { payment_late_ms: 300_000, delivery_late_ms: 240_000 }
    expect(deps.lines.find(({ code }) => code === 'due_work.completed')?.fields).toMatchObject(late)
    const runs = deps.sent.map(({ queue, message }) =>
      workOn(deps, queue as keyof typeof WORKERS, message.body),
    )
    expect(await Promise.all(runs)).toStrictEqual(runs.map(() => ({ batchItemFailures: [] })))

    expect(deps.provider.countOf('cancelRequest')).toBe(1)
    expect(deps.published).toHaveLength(1)
    expect(deps.sent.filter(({ queue }) => queue === 'webhooks')).toHaveLength(1)
    expect(await checkDueWork(deps)).toStrictEqual({ alert: 0, delivery: 0, payment: 0, audit: 0 })
  })

  it.each([
    [600, 2],
    [60_000, 4],
  ])(
    'divides a large slot among as many workers as %d calls a minute allow',
    async (callsPerMinute, parts) => {
      const { deps, expired, worker } = await aFlood(330, callsPerMinute)

      await checkDueWork(deps)
      const shares = Array.from({ length: parts }, (_, part) => ({ slot: 3, part, parts }))
      expect(deps.sent).toMatchObject(
        shares.map((body) => ({ queue: 'due-payments', message: { body } })),
      )
      await Promise.all(shares.map((share) => worker(deps, share)))

      expect([
        expired(),
        new Set(idsCancelled(deps)).size,
        idsCancelled(deps).length,
      ]).toStrictEqual([330, 330, 330])
    },
  )

  it('sends the other kinds when the query of one kind fails, and then fails', async () => {
    const deps = await oneOfEachKind()
    const broken = interceptTable(deps, {
      before: (call) => {
        if ('query' in call && call.query.partition.includes('alert'))
          throw new Error('no such slot')
      },
    })

    await expect(checkDueWork(broken)).rejects.toThrow('no such slot')

    expect(new Set(deps.sent.map(({ queue }) => queue))).toStrictEqual(
      new Set(['due-deliveries', 'due-payments']),
    )
  })
})

describe('a worker of a slot', () => {
  it('checks another client’s payment early among 2,000 payments of one client', async () => {
    const { deps, worker } = await aFlood(2_000)
    const [payment] = await unpaid(deps, await aStoredClient(deps), 1)
    deps.clock.advance(LIFE_S)

    await worker()

    const asked = idsCancelled(deps)
    expect(asked.slice(0, 16)).toContain(payment?.paymentRequestId)
    // The whole quota of a minute.
    expect(asked).toHaveLength(600)
  })

  it('continues when items fail, and leaves them due', async () => {
    const { deps, payments, expired, worker } = await aFlood(20)
    const [unlucky, unreadable] = payments as [Payment, Payment]
    await deps.table.write(
      update(paymentKey(unreadable.paymentId), { set: { notionalMinor: 'much' } }),
    )
    deps.provider.script('cancelRequest', async (id, timeoutMs) => {
      if (id === unlucky.paymentRequestId) throw new Error('something unforeseen')
      return deps.provider.healthy.cancelRequest(id, timeoutMs)
    })

    await worker()

    expect(expired()).toBe(18)
    const drained = deps.lines.find(({ code }) => code === 'due_work.drained')
    expect(drained?.fields).toStrictEqual({ work: 'payment', slot: 3, payment: 18, failed: 2 })
    deps.clock.advance(120)
    expect(await checkDueWork(deps)).toStrictEqual({ alert: 0, delivery: 0, payment: 2, audit: 0 })
  })

  it('ends after a minute, and the next run sends the rest', async () => {
    const { deps, expired, worker } = await aFlood(100)
    deps.provider.script('cancelRequest', async (id, timeoutMs) => {
      await deps.sleep(20_000)
      return deps.provider.healthy.cancelRequest(id, timeoutMs)
    })

    await worker()

    expect(expired()).toBe(3 * 6)
    expect(await checkDueWork(deps)).toMatchObject({ payment: 100 - 3 * 6 })
  })
})

describe('the provider’s quota', () => {
  it('limits the payment checks of a minute exactly, and no other due work', async () => {
    const { deps, expired, worker } = await aFlood(200, 60)
    const startedMs = deps.monotonicMs()

    await worker()

    expect(deps.monotonicMs() - startedMs).toBeLessThanOrEqual(60_000)
    expect(Math.abs(expired() - 60)).toBeLessThanOrEqual(10)
    expect(
      deps.provider.calls.filter(({ operation }) => operation !== 'createRequest'),
    ).toHaveLength(expired())
  })

  it.each([
    ['cancelRequest', 0],
    // None is expected: the provider closes such a payment long after us.
    ['getRequest', 30],
  ] as const)(
    'claims only items for which the quota has calls: without %s, %i are done',
    async (paused, done) => {
      const { deps, expired, worker } = await aFlood(30, 60)
      const [written, startedMs] = [deps.changes.length, deps.monotonicMs()]
      deps.provider.script('pauseMs', (operation) => (operation === paused ? 60_000 : 0))

      await worker({ ...deps, random: () => 0 })

      expect([deps.provider.countOf('cancelRequest'), expired()]).toStrictEqual([done, done])
      expect(deps.changes.length > written).toBe(done > 0)
      // It does not wait for the end of its minute.
      expect(deps.monotonicMs() > startedMs).toBe(done > 0)
    },
  )

  it.each([
    ['late and calls are short: they are left to its expiry', 60, 300, [1, 11], 0],
    ['late and calls are plenty', 600, 300, [100, 100], 0],
    ['in time: they wait for their turn', 60, 0, [50, 70], 30],
  ] as const)(
    'is asked at the end of a wallet’s usual time, unless it is %s',
    async (_, quota, late, asked, left) => {
      const { deps, payments, dueTimes, worker } = await aFlood(100, quota, DANA)
      const [first] = payments
      deps.clock.set(addMs(timestampOf(Date.parse(first?.dueAt ?? '')), late * 1_000))

      await worker()

      expect(deps.provider.countOf('getRequest')).toBeGreaterThanOrEqual(asked[0])
      expect(deps.provider.countOf('getRequest')).toBeLessThanOrEqual(asked[1])
      const due = dueTimes(payments)
      expect(due.filter((at) => at !== first?.expiresAt).length).toBeGreaterThanOrEqual(left)
      expect(due.filter((at) => at === first?.expiresAt).length).toBeGreaterThanOrEqual(
        left === 0 ? 100 : 50,
      )
    },
  )

  it('handles the checks and expiries of as many unpaid wallets as can be created', async () => {
    const [quota, minutes] = [12, 30]
    const { deps, payments: wallets, expired, dueTimes, worker } = await aFlood(0, quota)
    const client = await aStoredClient(deps)
    const aMinute = async (at: Timestamp) => {
      if (deps.now() < at) deps.clock.set(at)
      wallets.push(...(await unpaid(deps, client, quota, DANA)))
    }
    const begin = deps.now()
    for (let minute = 0; minute < minutes; minute++) await aMinute(addMs(begin, minute * MINUTE_MS))
    for (const { paymentRequestId } of wallets) deps.provider.close(paymentRequestId, 'expired')

    // A day later their expiries meet the looks of others.
    const late = await Array.fromAsync({ length: minutes + 15 }, async (_, minute) => {
      await aMinute(addMs(begin, DAY_MS + (minute - 15) * MINUTE_MS))
      await worker()
      const before = addMs(deps.now(), -2 * MINUTE_MS)
      return dueTimes(wallets).filter((at) => typeof at === 'string' && at < before).length
    })

    expect(expired()).toBeGreaterThan((minutes - 3) * quota)
    expect(Math.max(...late.slice(15))).toBeLessThanOrEqual(quota)
  })

  it('is paused for all workers by the first 429, until the time that the provider gives', async () => {
    const { deps, expired, worker } = await aFlood(100)
    let roomAtMs = 0
    const pauseMs = () => Math.max(0, roomAtMs - deps.monotonicMs())
    deps.provider.script('pauseMs', (operation) => (operation === 'cancelRequest' ? pauseMs() : 0))
    deps.provider.script('cancelRequest', async (id, timeoutMs) => {
      if (roomAtMs > 0) return deps.provider.healthy.cancelRequest(id, timeoutMs)
      roomAtMs = deps.monotonicMs() + 12_000
      return { kind: 'unanswered', reason: 'rate_limited' }
    })
    const endedMs: number[] = []
    const startedMs = deps.monotonicMs()

    await worker(
      interceptTable(deps, {
        before: ({ name }) => name === 'transact' && endedMs.push(deps.monotonicMs()),
      }),
    )

    // Those of the first turn were on their way; everything else waited.
    expect(endedMs.filter((at) => at - startedMs < 12_000).length).toBeLessThanOrEqual(5)
    expect(deps.stored.item(pausesKey)).toHaveProperty('cancel_request')
    expect(expired()).toBe(99)
  })
})
