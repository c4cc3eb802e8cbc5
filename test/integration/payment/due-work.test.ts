/**
 * Goal: all due work is found within a minute, and workers of each kind do it, taking turns between
 * clients. Two workers on one slot, a duplicate message or a crash do no harm. Method: real
 * handlers; each test delivers the messages itself.
 */
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { checkDueWork } from '../../../shared/due-work/check-due-work.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { pausesKey, paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, MINUTE_MS, type Timestamp, timestampOf } from '../../../shared/time.ts'
import { aFinding } from '../../support/money-rows.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { interceptTable, linesOf } from '../../support/test-deps.ts'
import { storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'
import { aFlood, cancelledIds, DANA, LIFE_S, unpaidPayments, WORKERS, workOn } from './due-flood.ts'

async function oneOfEachKind() {
  const { deps } = await aFlood(1)
  await storedDelivery(deps, await storedEndpoint(deps))
  deps.clock.advance(60)
  await aFinding(deps)
  deps.clock.advance(240)
  return deps
}

describe('checkDueWork (design section 4)', () => {
  it('sends each slot to workers of its kind, which do all items, and logs the wait of the oldest item', async () => {
    const deps = await oneOfEachKind()

    expect(await checkDueWork(deps)).toStrictEqual({ alert: 1, delivery: 1, payment: 1 })
    const [summary] = linesOf(deps, 'due_work.completed')
    const late = { payment_late_ms: 300_000, delivery_late_ms: 240_000, alert_late_ms: 180_000 }
    expect(summary?.fields).toMatchObject(late)
    const runs = deps.sent.map(({ queue, message }) =>
      workOn(deps, queue as keyof typeof WORKERS, message.body),
    )
    expect(await Promise.all(runs)).toStrictEqual(runs.map(() => ({ batchItemFailures: [] })))

    expect(deps.provider.countOf('cancelRequest')).toBe(1)
    expect(deps.published).toHaveLength(1)
    expect(deps.sent.filter(({ queue }) => queue === 'webhooks')).toHaveLength(1)
    expect(await checkDueWork(deps)).toStrictEqual({ alert: 0, delivery: 0, payment: 0 })
  })

  it.each([
    [600, 2],
    [60_000, 4],
  ])(
    'divides a large slot among as many workers as %d calls a minute allow',
    async (callsPerMinute, parts) => {
      const { deps, countExpired, runWorker } = await aFlood(330, callsPerMinute)

      await checkDueWork(deps)
      const shares = Array.from({ length: parts }, (_, part) => ({ slot: 3, part, parts }))
      expect(deps.sent).toMatchObject(
        shares.map((body) => ({ queue: 'due-payments', message: { body } })),
      )
      await Promise.all(shares.map((share) => runWorker(deps, share)))

      expect([
        countExpired(),
        new Set(cancelledIds(deps)).size,
        cancelledIds(deps).length,
      ]).toStrictEqual([330, 330, 330])
    },
  )

  it('asks every slot, sends the other slots and kinds when the query of one fails, and then fails', async () => {
    const deps = await oneOfEachKind()
    const asked = new Set<string>()
    const broken = interceptTable(deps, {
      before: async (call) => {
        const [work, slot] = 'query' in call ? call.query.partition : []
        asked.add([work, slot].join())
        if (work === 'alert' || (work === 'payment' && slot === 0)) throw new Error('no such slot')
        await setImmediate()
      },
    })

    await expect(checkDueWork(broken)).rejects.toThrow('no such slot')

    expect(asked.size).toBe(1 + 16 + 16)
    expect(new Set(deps.sent.map(({ queue }) => queue))).toStrictEqual(
      new Set(['due-deliveries', 'due-payments']),
    )
  })
})

describe('a worker of a slot', () => {
  it('checks another client’s payment early among 700 payments of one client', async () => {
    const { deps, runWorker } = await aFlood(700)
    const [payment] = await unpaidPayments(deps, await aStoredClient(deps), 1)
    deps.clock.advance(LIFE_S)

    await runWorker()

    const cancelled = cancelledIds(deps)
    expect(cancelled.slice(0, 16)).toContain(payment?.paymentRequestId)
    expect(cancelled).toHaveLength(600)
  })

  it('continues when items fail, and leaves them due', async () => {
    const { deps, payments, countExpired, runWorker } = await aFlood(21)
    const [unlucky, unreadable, timeless] = payments as [Payment, Payment, Payment]
    await deps.table.write(
      update(paymentKey(unreadable.paymentId), { set: { notionalMinor: 'much' } }),
    )
    await deps.table.write(update(paymentKey(timeless.paymentId), { set: { dueAt: '0' } }))
    const unforeseen = new Error('something unforeseen')
    deps.provider.before('cancelRequest', (id) => {
      if (id === unlucky.paymentRequestId) throw unforeseen
    })
    const causes: unknown[] = []
    const error = (...line: Parameters<typeof deps.log.error>) => {
      causes.push(line[2])
      deps.log.error(...line)
    }

    await runWorker({ ...deps, log: { ...deps.log, error } })

    expect(countExpired()).toBe(18)
    const [drained] = linesOf(deps, 'due_work.drained')
    expect(drained?.fields).toStrictEqual({ work: 'payment', slot: 3, payment: 18, failed: 2 })
    expect(linesOf(deps, 'payment.check_failed')).toHaveLength(2)
    expect(causes).toContain(unforeseen)
    expect(linesOf(deps, 'row.unreadable')[0]?.fields).toStrictEqual({
      kind: 'payment',
      id: paymentKey(timeless.paymentId).pk,
    })
    deps.clock.advance(120)
    expect(await checkDueWork(deps)).toStrictEqual({ alert: 0, delivery: 0, payment: 2 })
  })

  it('ends after a minute; the next run sends the remaining items', async () => {
    const { deps, countExpired, runWorker } = await aFlood(100)
    deps.provider.before('cancelRequest', () => deps.sleep(20_000))

    await runWorker()

    expect(countExpired()).toBe(3 * 6)
    expect(await checkDueWork(deps)).toMatchObject({ payment: 100 - 3 * 6 })
  })
})

describe('the provider’s quota', () => {
  it('limits the payment checks of a minute exactly, and no other due work', async () => {
    const { deps, countExpired, runWorker } = await aFlood(200, 60)
    const startedMs = deps.monotonicMs()

    await runWorker()

    expect(deps.monotonicMs() - startedMs).toBeLessThanOrEqual(60_000)
    expect(Math.abs(countExpired() - 60)).toBeLessThanOrEqual(10)
    expect(
      deps.provider.calls.filter(({ operation }) => operation !== 'createRequest'),
    ).toHaveLength(countExpired())
  })

  it.each([4, 20])(
    'takes a call for each of %i remembered captures, at most a whole window',
    async (count) => {
      const { deps, payments, runWorker } = await aFlood(30, 60)
      const ids = Array.from({ length: count }, (_, at) => `py-${at}`)
      for (const { paymentId } of payments) {
        const add = { rememberedProviderPaymentIds: new Set(ids) }
        await deps.table.write(update(paymentKey(paymentId), { add }))
      }

      await runWorker()

      // A window of this quota has 10 calls. A check with more captures takes a whole window.
      const checks = 6 * Math.max(1, Math.floor(10 / count))
      expect(deps.provider.countOf('getPayment')).toBe(checks * count)
    },
  )

  it.each([
    ['cancelRequest', 0],
    // The worker makes no getRequest: the provider closes a QRIS payment long after us.
    ['getRequest', 30],
  ] as const)(
    'claims only items for which the quota has calls: while %s is paused, %i are done',
    async (pausedOperation, doneCount) => {
      const { deps, countExpired, runWorker } = await aFlood(30, 60)
      const [written, startedMs] = [deps.changes.length, deps.monotonicMs()]
      deps.provider.script('pauseMs', (operation) => (operation === pausedOperation ? 60_000 : 0))

      await runWorker({ ...deps, random: () => 0 })

      expect([deps.provider.countOf('cancelRequest'), countExpired()]).toStrictEqual([
        doneCount,
        doneCount,
      ])
      expect(deps.changes.length > written).toBe(doneCount > 0)
      // The worker does not wait for the end of its minute.
      expect(deps.monotonicMs() > startedMs).toBe(doneCount > 0)
    },
  )

  it('is paused for one operation alone: a check passes the expiries that wait', async () => {
    const { deps, runWorker } = await aFlood(0)
    for (let at = 0; at < 20; at++) await unpaidPayments(deps, await aStoredClient(deps), 1)
    const client = await aStoredClient(deps)
    await unpaidPayments(deps, client, 501)
    await unpaidPayments(deps, client, 1, DANA)
    deps.clock.advance(1_000)
    deps.provider.script('pauseMs', (operation) => (operation === 'cancelRequest' ? 60_000 : 0))

    await runWorker()

    expect([deps.provider.countOf('getRequest'), cancelledIds(deps)]).toStrictEqual([1, []])
  })

  it.each([
    ['late and calls are short: the other checks are left to the expiry', 60, 300, [1, 11], [0, 0]],
    ['late and calls are plenty', 600, 300, [100, 100], [0, 0]],
    ['in time: the other checks wait for their turn', 60, 0, [50, 70], [30, 50]],
  ] as const)(
    'serves the checks at the end of a wallet’s usual time when they are %s',
    async (_, quota, lateSeconds, [minChecks, maxChecks], [minWaiting, maxWaiting]) => {
      const { deps, payments, dueTimes, runWorker } = await aFlood(100, quota, DANA)
      const [first] = payments
      deps.clock.set(addMs(timestampOf(Date.parse(first?.dueAt ?? '')), lateSeconds * 1_000))

      await runWorker()

      const checks = deps.provider.countOf('getRequest')
      expect(checks).toSatisfy((count) => count >= minChecks && count <= maxChecks)
      const waiting = dueTimes().filter((at) => at !== first?.expiresAt).length
      expect(waiting).toSatisfy((count) => count >= minWaiting && count <= maxWaiting)
    },
  )

  it('skips no late check for a shortage that a clock noted before it was set back', async () => {
    const { deps, payments, runWorker } = await aFlood(20, 600, DANA)
    deps.clock.set(addMs(timestampOf(Date.parse(payments[0]?.dueAt ?? '')), 300_000))
    const later = addMs(deps.now(), DAY_MS)
    deps.memory.callsAreShort = { from: later, until: addMs(later, MINUTE_MS) }

    await runWorker()

    expect(deps.provider.countOf('getRequest')).toBe(20)
  })

  it('handles the checks and expiries of as many unpaid wallets as can be created', async () => {
    const [quota, minutes] = [12, 18]
    const { deps, payments: wallets, countExpired, dueTimes, runWorker } = await aFlood(0, quota)
    const client = await aStoredClient(deps)
    const createForMinute = async (at: Timestamp) => {
      if (deps.now() < at) deps.clock.set(at)
      wallets.push(...(await unpaidPayments(deps, client, quota, DANA)))
    }
    const startedAt = deps.now()
    for (let minute = 0; minute < minutes; minute++)
      await createForMinute(addMs(startedAt, minute * MINUTE_MS))
    for (const { paymentRequestId } of wallets) deps.provider.close(paymentRequestId, 'expired')

    // A day later the expiries of these wallets meet the checks of new wallets.
    const lateCounts = await Array.fromAsync({ length: minutes + 15 }, async (_, minute) => {
      await createForMinute(addMs(startedAt, DAY_MS + (minute - 15) * MINUTE_MS))
      await runWorker()
      const lateBefore = addMs(deps.now(), -2 * MINUTE_MS)
      return dueTimes().filter((at) => typeof at === 'string' && at < lateBefore).length
    })

    expect(countExpired()).toBeGreaterThan((minutes - 3) * quota)
    expect(Math.max(...lateCounts.slice(15))).toBeLessThanOrEqual(quota)
  })

  it('is paused for all workers by the first 429, until the time that the provider gives', async () => {
    const { deps, countExpired, runWorker } = await aFlood(100)
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

    await runWorker(
      interceptTable(deps, {
        before: ({ name }) => name === 'transact' && endedMs.push(deps.monotonicMs()),
      }),
    )

    // The calls of the first turn were already sent; all other calls waited.
    expect(endedMs.filter((at) => at - startedMs < 12_000).length).toBeLessThanOrEqual(5)
    expect(deps.stored.item(pausesKey)).toHaveProperty('cancel_request')
    expect(countExpired()).toBe(99)
  })
})
