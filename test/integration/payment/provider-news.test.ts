import { describe, expect } from 'vitest'
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
