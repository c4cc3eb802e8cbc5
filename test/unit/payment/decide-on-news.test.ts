import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type { ProviderNews } from '../../../shared/payment/news/ask-for-news.ts'
import { decideOnNews } from '../../../shared/payment/news/decide-on-news.ts'
import type { CreatingPayment, Payment } from '../../../shared/payment/payment.ts'
import type { ProviderPayment, ProviderRequestStatus } from '../../../shared/provider/provider.ts'
import { addMs, type Timestamp } from '../../../shared/time.ts'
import { aClient } from '../../support/client-builders.ts'
import { aRequest } from '../../support/payment-builders.ts'
import { succeededPayment } from '../../support/settlement-builders.ts'

const NOW = '2026-11-20T04:00:00.000Z' as Timestamp

const aPayment = (fields: Partial<Payment> = {}): Payment => ({
  ...succeededPayment(aClient(), { paidAt: NOW }),
  status: 'pending',
  creditedProviderPaymentId: undefined,
  paidAt: undefined,
  ...fields,
})

const aCreating = (leaseUntil: Timestamp | undefined): CreatingPayment => ({
  paymentId: aPayment().paymentId,
  clientId: aClient().clientId,
  status: 'creating',
  request: aRequest(),
  attempt: 1,
  claimedAt: NOW,
  leaseUntil,
  providerAttempts: [],
  mayExistUpstream: false,
})

const aCapture = (fields: Partial<ProviderPayment> = {}): ProviderPayment => ({
  providerPaymentId: 'py-1',
  paymentRequestId: 'pr-own',
  reference: 'any',
  currency: 'IDR',
  status: 'captured',
  capturedMinor: minor(100_000),
  ...fields,
})

const news = (capture?: ProviderPayment, requestStatus?: ProviderRequestStatus): ProviderNews => ({
  reference: 'any',
  paymentRequestId: 'pr-own',
  capture,
  requestStatus,
  destination: undefined,
})

const WRONG = [
  ['less', { capturedMinor: minor(99_999) }, 'wrong_amount'],
  ['more', { capturedMinor: minor(100_001) }, 'wrong_amount'],
  ['another currency', { currency: 'PHP' }, 'wrong_currency'],
] as const

describe('decideOnNews: a capture', () => {
  it.each(['open', 'succeeded', 'failed', 'expired', 'cancelled', undefined] as const)(
    'makes a pending payment succeed although its request is %s',
    (status) => {
      const payment = aPayment({ paymentRequestId: 'pr-own' })

      expect(decideOnNews(payment, news(aCapture(), status), NOW)).toMatchObject({ do: 'succeed', payment })
    },
  )

  it.each(WRONG)('of %s is held, and fails the payment whose own request it was', (_case, fields, cause) => {
    const capture = aCapture(fields)
    const own = aPayment({ paymentRequestId: 'pr-own' })
    const others = aPayment({ paymentRequestId: 'pr-shown' })

    expect(decideOnNews(own, news(capture), NOW)).toStrictEqual({ do: 'hold_and_fail', payment: own, capture, cause })
    expect(decideOnNews(others, news(capture), NOW)).toStrictEqual({ do: 'hold', capture, cause })
  })

  it.each(WRONG)('of %s is held while the payment is being created', (_case, fields, cause) => {
    const capture = aCapture(fields)

    expect(decideOnNews(aCreating(undefined), news(capture), NOW)).toStrictEqual({ do: 'hold', capture, cause })
  })

  it.each([
    ['released', undefined, 'succeed_creating'],
    ['over', NOW, 'succeed_creating'],
    ['live', addMs(NOW, 1), 'remember'],
  ] as const)('while the payment is being created under a lease that is %s: %o', (_case, leaseUntil, decision) => {
    expect(decideOnNews(aCreating(leaseUntil), news(aCapture()), NOW)).toMatchObject({ do: decision })
  })

  it.each(['failed', 'expired', 'cancelled'] as const)('for a payment that is %s is held', (status) => {
    const capture = aCapture()

    expect(decideOnNews(aPayment({ status }), news(capture), NOW)).toStrictEqual({
      do: 'hold',
      capture,
      cause: 'payment_not_pending',
    })
  })

  it('says nothing new where it was credited, and is a second one beside another', () => {
    const credited = aPayment({ status: 'succeeded', creditedProviderPaymentId: 'py-1' })
    const other = aCapture({ providerPaymentId: 'py-2' })

    expect(decideOnNews(credited, news(aCapture()), NOW)).toStrictEqual({ do: 'nothing' })
    expect(decideOnNews(credited, news(other), NOW)).toStrictEqual({
      do: 'hold',
      capture: other,
      cause: 'second_capture',
    })
  })

  it('for nobody is held', () => {
    expect(decideOnNews(undefined, news(aCapture()), NOW)).toMatchObject({ do: 'hold', cause: 'unknown_reference' })
  })
})

describe('decideOnNews: a status without money', () => {
  it.each([
    ['failed', {}, 'failed'],
    ['expired', {}, 'expired'],
    ['cancelled', {}, 'failed'],
    ['cancelled', { cancelRequestedAt: NOW }, 'cancelled'],
    ['cancelled', { cancelRequestedAt: NOW, expiresAt: NOW }, 'cancelled'],
    ['cancelled', { cancelRequestedAt: NOW, expiresAt: NOW, expiryStartedAt: NOW }, 'expired'],
    // Whoever began it has a clock ahead of this one.
    ['cancelled', { expiresAt: addMs(NOW, 1), expiryStartedAt: addMs(NOW, 1) }, 'expired'],
    ['cancelled', { expiresAt: NOW }, 'expired'],
    ['cancelled', { expiresAt: addMs(NOW, 1) }, 'failed'],
  ] as const)('%s closes a pending payment with %j as %s', (status, fields, closedAs) => {
    const payment = aPayment({ paymentRequestId: 'pr-own', ...fields })

    const decision = decideOnNews(payment, news(undefined, status), NOW)

    expect(decision).toStrictEqual({ do: 'close', payment, status: closedAs })
  })

  it.each(['open', 'succeeded', undefined] as const)('%s changes nothing', (status) => {
    const payment = aPayment({ paymentRequestId: 'pr-own' })

    expect(decideOnNews(payment, news(undefined, status), NOW)).toStrictEqual({ do: 'nothing' })
  })

  it.each(['failed', 'expired', 'cancelled'] as const)('%s of another request changes nothing', (status) => {
    const payment = aPayment({ paymentRequestId: 'pr-shown' })

    expect(decideOnNews(payment, news(undefined, status), NOW)).toStrictEqual({ do: 'nothing' })
  })

  it.each(['failed', 'expired', 'cancelled'] as const)('%s changes nothing where nothing is pending', (status) => {
    const told = news(undefined, status)
    const succeeded = aPayment({ status: 'succeeded', paymentRequestId: 'pr-own' })

    for (const stored of [succeeded, aCreating(undefined), undefined]) {
      expect(decideOnNews(stored, told, NOW)).toStrictEqual({ do: 'nothing' })
    }
  })
})
