import { describe, expect, it } from 'vitest'
import { pausesKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, MINUTE_MS, type Timestamp, timestampOf } from '../../../shared/time.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { interceptTable } from '../../support/test-deps.ts'
import { aFlood, DANA, unpaidPayments } from './due-flood.ts'

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

  it.each([
    ['late and calls are short: the other checks are left to the expiry', 60, 300, [1, 11], 0],
    ['late and calls are plenty', 600, 300, [100, 100], 0],
    ['in time: the other checks wait for their turn', 60, 0, [50, 70], 30],
  ] as const)(
    'serves the checks at the end of a wallet’s usual time when they are %s',
    async (_, quota, lateSeconds, [minChecks, maxChecks], waitingCount) => {
      const { deps, payments, dueTimes, runWorker } = await aFlood(100, quota, DANA)
      const [first] = payments
      deps.clock.set(addMs(timestampOf(Date.parse(first?.dueAt ?? '')), lateSeconds * 1_000))

      await runWorker()

      expect(deps.provider.countOf('getRequest')).toBeGreaterThanOrEqual(minChecks)
      expect(deps.provider.countOf('getRequest')).toBeLessThanOrEqual(maxChecks)
      const due = dueTimes(payments)
      expect(due.filter((at) => at !== first?.expiresAt).length).toBeGreaterThanOrEqual(
        waitingCount,
      )
      expect(due.filter((at) => at === first?.expiresAt).length).toBeGreaterThanOrEqual(
        waitingCount === 0 ? 100 : 50,
      )
    },
  )

  it('handles the checks and expiries of as many unpaid wallets as can be created', async () => {
    const [quota, minutes] = [12, 30]
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
      return dueTimes(wallets).filter((at) => typeof at === 'string' && at < lateBefore).length
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
