import { describe, expect } from 'vitest'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { refreshPayment } from '../../../shared/payment/news/refresh-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aPaid, eventOf } from '../../support/payment-builders.ts'
import { paymentTest as it } from './payment-test.ts'

describe('a capture on a pending payment (spec 3.1)', () => {
  it('marks it succeeded, credits its net and writes its event, in one go', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    deps.clock.advance(60)

    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'callback')

    expect(outcome.kind).toBe('applied')
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({
      status: 'succeeded',
      paidAt: '2026-11-20T04:01:00.000Z',
      creditedProviderPaymentId: providerPaymentId,
      feeStatus: 'estimated',
      netMinor: 95_900,
    })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    const event = await eventOf(deps, payment, 'payment.succeeded')
    expect(JSON.parse(String(event?.['body']))).toMatchObject({
      event: 'payment.succeeded',
      event_id: event?.['id'],
      timestamp: deps.now(),
      data: { id: payment.paymentId, status: 'succeeded', paid_at: deps.now(), client_net_minor: 95_900 },
    })
  })

  it('leaves the payment open with its estimate, and asks no one for the fee', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid({ channelCode: 'BNI' })

    await applyProviderNews(deps, { providerPaymentId }, 'callback')

    const amounts = { providerFeeMinor: 4_000, netMinor: 95_900, feeStatus: 'estimated' }
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ ...amounts, openAt: deps.now() })
    const event = await eventOf(deps, payment, 'payment.succeeded')
    expect(JSON.parse(String(event?.['body']))).toMatchObject({ data: { fee_status: 'estimated' } })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    expect(deps.provider.countOf('listTransactions')).toBe(0)
  })

  it('closes nothing while the provider cannot be asked about the money', async () => {
    const { deps, payment } = await aPaid()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    const outcome = await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

    expect(outcome).toStrictEqual({ kind: 'unanswered', reason: 'unreachable' })
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})

describe('a request that ends without money', () => {
  it.for([
    ['failed', 'failed', 'payment.failed'],
    ['expired', 'expired', 'payment.expired'],
    ['cancelled', 'failed', 'payment.failed'],
  ] as const)(
    '%s upstream makes the payment %s, with its event',
    async ([upstream, status, eventType], { deps, client, payment }) => {
      deps.provider.close(payment.paymentRequestId, upstream)

      await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

      expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status })
      expect(await eventOf(deps, payment, eventType)).toMatchObject({ owner: client.clientId, entity: 'event' })
      expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, [status]: 1 })
    },
  )

  it('cancelled upstream past the expiry makes the payment expired', async ({ deps, payment }) => {
    deps.provider.close(payment.paymentRequestId, 'cancelled')
    deps.clock.advance(86_401)

    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'expired' })
  })

  it("changes nothing when it is another attempt's request", async ({ deps, payment }) => {
    const own = deps.provider.requests.get(payment.paymentRequestId)
    if (own) deps.provider.requests.set('pr-orphan', { ...own, paymentRequestId: 'pr-orphan', status: 'expired' })

    await applyProviderNews(deps, { paymentRequestId: 'pr-orphan' }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})

describe('refreshPayment when the provider leaves the question open', () => {
  it.for([
    ['unreachable', 'network', 'the provider did not answer'],
    ['server_error', 'server_error', 'the provider failed'],
    ['rate_limited', 'server_error', "the provider's rate limit is reached"],
    ['misconfigured', 'server_error', 'the provider failed'],
  ] as const)('answers 502 as a cancel does: %s is %s', async ([reason, code, said], { deps, payment }) => {
    deps.provider.script('getRequest', async () => ({ kind: 'unanswered', reason }))

    const refresh = refreshPayment(deps, payment.paymentId, 'ayu')

    await expect(refresh).rejects.toMatchObject({ code, message: expect.stringContaining(said) as string })
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})
