/**
 * Goal: machines whose clocks are ten seconds slow or fast lose no payment, settle none twice and keep the books balanced.
 * Method: two machines on one table, their clocks twenty seconds apart. One reads each time that the other has written.
 */
import { TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { aPendingPayment, aStoredClient, eventOf } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

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
