/**
 * Goal: all due work is found within a minute, and workers of each kind do it, taking turns between
 * clients. Two workers on one slot, a duplicate message or a crash do no harm. Method: real
 * handlers; each test delivers the messages itself.
 */
import { describe, expect, it } from 'vitest'
import { checkDueWork } from '../../../shared/due-work/check-due-work.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { heldMoney } from '../../../shared/suspense/record-suspense.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { interceptTable } from '../../support/test-deps.ts'
import { storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'
import { aFlood, cancelledIds, LIFE_S, unpaidPayments, WORKERS, workOn } from './due-flood.ts'

/**
 * A payment, a delivery whose message was lost, and suspense money without its alert: all are due.
 */
async function oneOfEachKind() {
  const { deps } = await aFlood(1)
  await storedDelivery(deps, await storedEndpoint(deps))
  const capture = { providerPaymentId: 'py-held', capturedMinor: minor(1_000) }
  await writeSuspense(
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
    const waits = { payment_late_ms: 300_000, delivery_late_ms: 240_000 }
    expect(deps.lines.find(({ code }) => code === 'due_work.completed')?.fields).toMatchObject(
      waits,
    )
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
    const { deps, runWorker } = await aFlood(2_000)
    const [payment] = await unpaidPayments(deps, await aStoredClient(deps), 1)
    deps.clock.advance(LIFE_S)

    await runWorker()

    const cancelled = cancelledIds(deps)
    expect(cancelled.slice(0, 16)).toContain(payment?.paymentRequestId)
    // The worker spends the whole quota of a minute.
    expect(cancelled).toHaveLength(600)
  })

  it('continues when items fail, and leaves them due', async () => {
    const { deps, payments, countExpired, runWorker } = await aFlood(20)
    const [unlucky, unreadable] = payments as [Payment, Payment]
    await deps.table.write(
      update(paymentKey(unreadable.paymentId), { set: { notionalMinor: 'much' } }),
    )
    deps.provider.script('cancelRequest', async (id, timeoutMs) => {
      if (id === unlucky.paymentRequestId) throw new Error('something unforeseen')
      return deps.provider.healthy.cancelRequest(id, timeoutMs)
    })

    await runWorker()

    expect(countExpired()).toBe(18)
    const drained = deps.lines.find(({ code }) => code === 'due_work.drained')
    expect(drained?.fields).toStrictEqual({ work: 'payment', slot: 3, payment: 18, failed: 2 })
    deps.clock.advance(120)
    expect(await checkDueWork(deps)).toStrictEqual({ alert: 0, delivery: 0, payment: 2, audit: 0 })
  })

  it('ends after a minute; the next run sends the remaining items', async () => {
    const { deps, countExpired, runWorker } = await aFlood(100)
    deps.provider.script('cancelRequest', async (id, timeoutMs) => {
      await deps.sleep(20_000)
      return deps.provider.healthy.cancelRequest(id, timeoutMs)
    })

    await runWorker()

    expect(countExpired()).toBe(3 * 6)
    expect(await checkDueWork(deps)).toMatchObject({ payment: 100 - 3 * 6 })
  })
})
