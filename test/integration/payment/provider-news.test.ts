import { describe, expect } from 'vitest'
import { refreshPayment } from '../../../shared/payment/news/refresh-payment.ts'
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
  it.for([
    ['failed', 0, 'failed'],
    ['expired', 0, 'expired'],
    ['cancelled', 0, 'failed'],
    ['cancelled', 86_401, 'expired'],
  ] as const)('%s upstream after %i seconds makes the payment %s, with its event', async (given, { scene }) => {
    const [upstream, seconds, status] = given
    const { deps, client, request, hear, stored, ledger, event } = scene
    request({ status: upstream })
    deps.clock.advance(seconds)

    await hear()

    expect(await stored()).toMatchObject({ status })
    expect(await event(`payment.${status}`)).toMatchObject({ owner: client.clientId, entity: 'event' })
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, [status]: 1 })
  })

  it("changes nothing when it is another attempt's request", async ({ scene }) => {
    const { deps, payment, request, hear, stored } = scene
    const orphan = { ...request(), paymentRequestId: 'pr-orphan', status: 'expired' } as const
    deps.provider.requests.set('pr-orphan', orphan)

    await hear({ paymentRequestId: 'pr-orphan' })

    expect(await stored()).toEqual(payment)
  })
})

describe('refreshPayment when the provider leaves the question open', () => {
  it.for([
    ['unreachable', 'network', 'the provider did not answer'],
    ['server_error', 'server_error', 'the provider failed'],
    ['rate_limited', 'server_error', "the provider's rate limit is reached"],
    ['misconfigured', 'server_error', 'the provider failed'],
  ] as const)('answers 502 as a cancel does: %s is %s', async ([reason, code, said], { scene }) => {
    const { deps, payment, stored } = scene
    deps.provider.script('getRequest', async () => ({ kind: 'unanswered', reason }))

    const refresh = refreshPayment(deps, payment.paymentId, 'ayu')

    await expect(refresh).rejects.toMatchObject({ code, message: expect.stringContaining(said) as string })
    expect(await stored()).toEqual(payment)
  })
})
