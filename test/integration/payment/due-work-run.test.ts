import { describe, expect, it } from 'vitest'
import { checkDueWork } from '../../../shared/due-work/check-due-work.ts'
import type { PaymentId } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { heldMoney } from '../../../shared/suspense/record-suspense.ts'
import { putSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { eventually } from '../../support/eventually.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { storedDelivery, storedEndpoint, storedEvent } from '../../support/webhook-builders.ts'

/** Payments that wait for their customers; due for the first time a quarter of an hour from now. */
const pendingPayments = async (deps: MemoryDeps, count: number): Promise<readonly Payment[]> => {
  const client = await aStoredClient(deps)
  const payments: Payment[] = []
  for (let made = 0; made < count; made++)
    payments.push(await aPendingPayment(deps, client, { method: 'ewallet', channelCode: 'DANA' }))
  return payments
}

const FIRST_CHECK_SECONDS = 900

/** The same on a table of their own, due now. */
const duePayments = async (count: number) => {
  const deps = memoryDeps()
  const payments = await pendingPayments(deps, count)
  deps.clock.advance(FIRST_CHECK_SECONDS)
  return { deps, payments }
}

/** A payment, an event the stream lost, a delivery whose message was lost, and money nobody was told of: all due. */
const oneOfEachKind = async (alerts: number) => {
  const deps = memoryDeps()
  await storedEvent(deps)
  await storedDelivery(deps, await storedEndpoint(deps))
  for (let held = 0; held < alerts; held++) {
    const capture = { providerPaymentId: `py-${held}`, capturedMinor: minor(1_000) }
    await putSuspense(deps, heldMoney({ capture, cause: 'unknown_reference', payment: undefined, now: deps.now() }))
  }
  await pendingPayments(deps, 1)
  deps.clock.advance(FIRST_CHECK_SECONDS)
  return deps
}

describe('checkDueWork (design section 4)', () => {
  it('touches nothing before its time', async () => {
    const deps = memoryDeps()
    await pendingPayments(deps, 3)
    deps.clock.advance(FIRST_CHECK_SECONDS - 1)
    const written = deps.changes.length

    const summary = await checkDueWork(deps)

    expect(summary).toStrictEqual({ event: 0, alert: 0, delivery: 0, payment: 0, failed: 0 })
    expect(deps.changes).toHaveLength(written)
    expect(deps.provider.countOf('getRequest')).toBe(0)
  })

  it('looks at what is due in every slot, however many pages a slot has', async () => {
    const deps = memoryDeps()
    const payments = await pendingPayments(deps, 120)
    // Most in one slot, so that it has more than two pages, and the others wherever their ids lead.
    for (const { paymentId } of payments.slice(0, 110)) {
      await deps.table.write(update(paymentKey(paymentId), { set: { slot: 3 } }))
    }
    deps.clock.advance(FIRST_CHECK_SECONDS)

    const summary = await checkDueWork(deps)

    expect(summary).toStrictEqual({ event: 0, alert: 0, delivery: 0, payment: 120, failed: 0 })
    expect(deps.provider.countOf('getRequest')).toBe(120)
  })

  it('goes on when one item is in trouble, and leaves it due', async () => {
    const { deps, payments } = await duePayments(20)
    const [unlucky] = payments
    deps.provider.script('getRequest', async (id) => {
      if (id === unlucky?.paymentRequestId) throw new Error('something nobody thought of')
      return { kind: 'not_found' }
    })

    const summary = await checkDueWork(deps)

    expect(summary).toMatchObject({ payment: 19, failed: 1 })
    const item = deps.memory.item(paymentKey(unlucky?.paymentId ?? ('' as PaymentId)))
    expect(item?.['due_at']).toBe('2026-11-20T04:17:00.000Z')
  })

  it('waits as long as the provider’s headers say, then goes on; a pause past the run is left to the next', async () => {
    const { deps } = await duePayments(30)
    const pauses = [0, 0, 20_000, 90_000]
    deps.provider.script('pauseMs', (operation) => (operation === 'getRequest' ? (pauses.shift() ?? 90_000) : 0))
    const startedMs = deps.monotonicMs()

    const summary = await checkDueWork(deps)

    expect(deps.monotonicMs() - startedMs).toBe(20_000)
    expect(summary.payment).toBeGreaterThan(0)
    expect(summary.payment).toBeLessThan(30)
  })

  it('asks on in the same run behind a 429 that says how long to wait', async () => {
    const { deps } = await duePayments(30)
    let roomAtMs = 0
    deps.provider.script('pauseMs', () => Math.max(0, roomAtMs - deps.monotonicMs()))
    deps.provider.script('getRequest', async () => {
      if (roomAtMs > 0) return { kind: 'not_found' }
      roomAtMs = deps.monotonicMs() + 12_000
      return { kind: 'unanswered', reason: 'rate_limited' }
    })

    const summary = await checkDueWork(deps)

    expect(summary.payment).toBe(29)
  })

  it('looks at payments, events and deliveries while the alert topic hangs', async () => {
    const deps = await oneOfEachKind(20)
    const topic = Promise.withResolvers<void>()
    const run = checkDueWork({ ...deps, alerts: { publish: () => topic.promise } })

    await eventually(() => {
      expect(deps.provider.countOf('getRequest')).toBe(1)
      expect(deps.lines.map(({ code }) => code)).toContain('event.fanned_out')
      expect(deps.sent.map(({ queue }) => queue)).toContain('webhooks')
    })

    topic.reject(new Error('the topic did not answer'))
    expect(await run).toStrictEqual({ event: 1, alert: 0, delivery: 1, payment: 1, failed: 0 })
  })

  it('publishes alerts, and sends what was lost, while the provider hangs', async () => {
    const deps = await oneOfEachKind(20)
    const provider = Promise.withResolvers<{ readonly kind: 'not_found' }>()
    deps.provider.script('getRequest', () => provider.promise)
    const run = checkDueWork(deps)

    await eventually(() => {
      expect(deps.published).toHaveLength(20)
      expect(deps.sent.map(({ queue }) => queue)).toContain('webhooks')
    })

    provider.resolve({ kind: 'not_found' })
    expect(await run).toMatchObject({ event: 1, alert: 20, delivery: 1, payment: 1 })
  })

  it('works through the other kinds when the index of one cannot be read, and fails then', async () => {
    const deps = await oneOfEachKind(3)
    const broken = interceptTable(deps, {
      before: (call) => {
        if ('query' in call && call.query.partition.includes('alert')) throw new Error('no such slot')
      },
    })

    await expect(checkDueWork(broken)).rejects.toThrow('no such slot')

    expect(deps.provider.countOf('getRequest')).toBe(1)
    expect(deps.lines.map(({ code }) => code)).toContain('event.fanned_out')
    expect(deps.sent.map(({ queue }) => queue)).toContain('webhooks')
  })

  it('asks no more once the provider wants no more questions', async () => {
    const { deps } = await duePayments(60)
    deps.provider.script('getRequest', async () => ({ kind: 'unanswered', reason: 'rate_limited' }))

    await checkDueWork(deps)

    // Those of one group are asked side by side.
    expect(deps.provider.countOf('getRequest')).toBeLessThanOrEqual(8)
  })

  it('announces what the stream has lost, and delivers it', async () => {
    const deps = memoryDeps()
    const [payment] = await pendingPayments(deps, 1)
    if (!payment) throw new Error('no payment')
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    deps.clock.advance(120)

    const summary = await checkDueWork(deps)

    expect(summary).toStrictEqual({ event: 1, alert: 0, delivery: 0, payment: 0, failed: 0 })
    expect(deps.lines.map(({ code }) => code)).toContain('event.fanned_out')
  })
})
