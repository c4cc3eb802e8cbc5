import { TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { describe, expect } from 'vitest'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { aPendingPayment, aStoredClient, eventOf } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { paymentTest as it } from './payment-test.ts'

describe('a capture on a pending payment (spec 3.1)', () => {
  it('marks it succeeded, credits its net and writes its event, in one go, by its estimate', async ({ scene }) => {
    const { deps, payment, pay, hear, stored, ledger, event } = scene
    const providerPaymentId = pay()
    deps.clock.advance(60)

    expect((await hear({ providerPaymentId })).kind).toBe('applied')

    expect(await stored()).toMatchObject({
      status: 'succeeded',
      paidAt: '2026-11-20T04:01:00.000Z',
      openAt: deps.now(),
      creditedProviderPaymentId: providerPaymentId,
      feeStatus: 'estimated',
      providerFeeMinor: 4_000,
      netMinor: 95_900,
    })
    expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    const told = await event('payment.succeeded')
    const data = { id: payment.paymentId, status: 'succeeded', paid_at: deps.now(), client_net_minor: 95_900 }
    expect(JSON.parse(String(told?.['body']))).toMatchObject({
      event: 'payment.succeeded',
      event_id: told?.['id'],
      timestamp: deps.now(),
      data: { ...data, fee_status: 'estimated' },
    })
    expect(deps.provider.countOf('listTransactions')).toBe(0)
  })
})

describe('a request that ends without money', () => {
  it("changes nothing when it is another attempt's request", async ({ scene }) => {
    const { deps, payment, request, hear, stored } = scene
    const orphan = { ...request(), paymentRequestId: 'pr-orphan', status: 'expired' } as const
    deps.provider.requests.set('pr-orphan', orphan)

    await hear({ paymentRequestId: 'pr-orphan' })

    expect(await stored()).toEqual(payment)
  })
})

/** So many tries of a transaction conflict with other writers, and the environment is frozen for so long at each. */
const frozenAmong = (deps: TestDeps, times: number, seconds: number): TestDeps => {
  let conflicts = 0
  return interceptTable(deps, {
    before: ({ name }) => {
      if (name !== 'transact' || conflicts++ >= times) return
      deps.clock.advance(seconds)
      throw new TransactionConflictException({ message: 'conflict', $metadata: {} })
    },
  })
}

describe('paid_at', () => {
  it('is fresh when it is written: no window has passed it', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)

    await applyProviderNews(frozenAmong(deps, 1, 2 * 86_400), { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded', paidAt: deps.now() })
  })
})

describe('the time of an event', () => {
  it.each(['failed', 'expired'] as const)(
    'is fresh when a payment is %s: no reader of events has passed it',
    async (status) => {
      const deps = testDeps()
      const payment = await aPendingPayment(deps, await aStoredClient(deps))
      const fresh = await aPendingPayment(deps, await aStoredClient(deps))

      const closed = await closePayment(frozenAmong(deps, 2, 3_600), payment, { status, source: 'due_work' })
      const at = deps.now()
      await closePayment(frozenAmong(deps, 1, 4), fresh, { status, source: 'due_work' })

      expect(closed?.transitions.at(-1)).toMatchObject({ at })
      const event = await eventOf(deps, payment, `payment.${status}`)
      expect([event?.['listedAt'], JSON.parse(String(event?.['body'])).timestamp]).toStrictEqual([at, at])
      expect(await eventOf(deps, fresh, `payment.${status}`)).toMatchObject({ listedAt: at })
    },
  )

  it('is renewed for a few conflicts only: then the payment stays as it was, and due', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))

    const closing = closePayment(frozenAmong(deps, 12, 6), payment, { status: 'expired', source: 'due_work' })

    await expect(closing).rejects.toThrow('conflicting writes')
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})
