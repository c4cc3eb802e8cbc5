import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { askForNews, type ProviderNews } from '../../../shared/payment/news/ask-for-news.ts'
import { decideOnNews } from '../../../shared/payment/news/decide-on-news.ts'
import { isAboutCredit } from '../../../shared/payment/news/succeed-payment.ts'
import type { CreatingPayment, Payment } from '../../../shared/payment/payment.ts'
import type {
  ProviderPayment,
  ProviderRequest,
  ProviderRequestStatus,
} from '../../../shared/provider/provider.ts'
import { addMs, type Timestamp } from '../../../shared/time.ts'
import { fakeProvider } from '../../support/fake-provider.ts'
import { succeededPayment } from '../../support/paid-builders.ts'
import { aClient, aRequest } from '../../support/payment-builders.ts'

const NOW = '2026-11-20T04:00:00.000Z' as Timestamp

const SUCCEEDED = succeededPayment(aClient(), { paidAt: NOW })
const UNPAID = { status: 'pending', capture: undefined, paidAt: undefined } as const
function aPayment(fields: Partial<Payment> = {}): Payment {
  return { ...SUCCEEDED, ...UNPAID, ...fields }
}

const CREATING: CreatingPayment = {
  ...aPayment(),
  status: 'creating',
  request: aRequest(),
  claimedAt: NOW,
  leaseUntil: undefined,
  mayExistUpstream: false,
}

const OWN_REQUEST = { paymentRequestId: 'pr-own', reference: 'any' }
const MONEY = {
  providerPaymentId: 'py-1',
  currency: 'IDR',
  status: 'captured',
  capturedMinor: minor(100_000),
} as const

function aCapture(fields: Partial<ProviderPayment> = {}): ProviderPayment {
  return { ...MONEY, ...OWN_REQUEST, ...fields }
}

function news(capture?: ProviderPayment, requestStatus?: ProviderRequestStatus): ProviderNews {
  return { ...OWN_REQUEST, capture, requestStatus, destination: undefined }
}

const OWN = aPayment({ paymentRequestId: 'pr-own' })
const ENDS = ['succeeded', 'failed', 'expired', 'cancelled'] as const
const FOREIGN = aPayment({ paymentRequestId: 'pr-shown' })
const STATUSES = [
  'open',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
  'unknown',
  undefined,
] as const

describe('decideOnNews: a capture', () => {
  it.each(STATUSES)('makes a pending payment succeed although its request is %s', (status) => {
    expect(decideOnNews(OWN, news(aCapture(), status), NOW)).toMatchObject({
      do: 'succeed',
      payment: OWN,
    })
  })

  it('of too much is held, and fails the payment of its request', () => {
    const [capture, cause] = [aCapture({ capturedMinor: minor(100_001) }), 'wrong_amount']
    const held = { do: 'hold', capture, cause }

    const failed = {
      do: 'close',
      payment: OWN,
      status: 'failed',
      failureReason: cause,
      money: { capture, cause },
    }
    expect(decideOnNews(OWN, news(capture), NOW)).toStrictEqual(failed)
    expect(decideOnNews(FOREIGN, news(capture), NOW)).toStrictEqual(held)
    expect(decideOnNews(CREATING, news(capture), NOW)).toStrictEqual(held)
    expect(decideOnNews(aPayment({ status: 'failed' }), news(capture), NOW)).toStrictEqual(held)
  })

  it.each([undefined, SUCCEEDED])('in pesos is held as such: %o', (payment) => {
    const decision = decideOnNews(payment, news(aCapture({ currency: 'PHP' })), NOW)
    expect(decision).toMatchObject({ cause: 'wrong_currency' })
  })
})

it.each([
  [0, 'succeed_creating'],
  [60_000, 'remember'],
  [60_001, 'succeed_creating'],
])('decideOnNews: a capture whose create has a lease of %d ms: %s', (ms, what) => {
  const creating = { ...CREATING, leaseUntil: addMs(NOW, ms) }
  expect(decideOnNews(creating, news(aCapture()), NOW)).toHaveProperty('do', what)
})

describe('decideOnNews: a status without money', () => {
  it.each([
    ['failed', {}, 'failed'],
    ['expired', {}, 'expired'],
    ['cancelled', {}, 'failed'],
    ['cancelled', { cancelRequestedAt: NOW }, 'cancelled'],
    ['cancelled', { cancelRequestedAt: NOW, expiresAt: NOW }, 'cancelled'],
    ['cancelled', { cancelRequestedAt: NOW, expiresAt: NOW, expiryStartedAt: NOW }, 'expired'],
    // The worker that began the expiry has a clock ahead of this worker's.
    ['cancelled', { expiresAt: addMs(NOW, 1), expiryStartedAt: addMs(NOW, 1) }, 'expired'],
    ['cancelled', { expiresAt: NOW }, 'expired'],
    ['cancelled', { expiresAt: addMs(NOW, 1) }, 'failed'],
  ] as const)('%s closes a pending payment with %j as %s', (status, fields, closedAs) => {
    const payment = { ...OWN, ...fields }

    const decision = decideOnNews(
      payment,
      { ...news(undefined, status), failureReason: 'declined' },
      NOW,
    )

    const failureReason = status === 'cancelled' ? 'cancelled_upstream' : 'declined'
    expect(decision).toEqual({ do: 'close', payment, status: closedAs, failureReason })
  })

  // Public report of a late failure: lago #5947.
  it.each(STATUSES)(
    '%s closes only a pending payment of its request, and only if the status is final',
    (status) => {
      const isFinal = status === 'failed' || status === 'expired' || status === 'cancelled'
      for (const stored of [
        FOREIGN,
        ...ENDS.map((end) => ({ ...OWN, status: end })),
        CREATING,
        undefined,
        ...(isFinal ? [] : [OWN]),
      ]) {
        const noted = { do: 'note', payment: stored }
        expect(decideOnNews(stored, news(undefined, status), NOW)).toStrictEqual(
          status === 'unknown' && stored ? noted : { do: 'nothing' },
        )
      }
    },
  )
})

function showing(request: ProviderRequest, payment: ProviderPayment) {
  const provider = fakeProvider()
  provider.answer('getRequest', { kind: 'found', value: request })
  provider.answer('getPayment', { kind: 'found', value: payment })
  return provider
}

it('askForNews (design section 4) takes the payment from the capture itself, for any request that led to it', async () => {
  const otherRequest = { paymentRequestId: 'pr-2', reference: 'another-reference' }
  const request = {
    ...OWN_REQUEST,
    status: 'expired',
    latestPaymentId: 'py-1',
    destination: '123',
  } as const
  const provider = showing(request, aCapture(otherRequest))

  const answer = { news: { ...otherRequest, capture: aCapture(otherRequest) } }
  expect(await askForNews({ provider }, { paymentRequestId: 'pr-own' })).toMatchObject(answer)
})

it.each(['open', 'succeeded', 'failed', 'expired', 'cancelled', 'unknown'] as const)(
  'askForNews decides nothing while a paid payment shows no capture, although its request is %s',
  async (status) => {
    const uncaptured = aCapture({ status: 'succeeded', capturedMinor: minor(0) })
    const request = { ...OWN_REQUEST, status, latestPaymentId: 'py-1', destination: undefined }
    const provider = showing(request, uncaptured)

    for (const subject of [{ paymentRequestId: 'pr-own' }, { providerPaymentId: 'py-1' }])
      expect(await askForNews({ provider }, subject)).toStrictEqual({ kind: 'not_shown' })
  },
)

it('askForNews asks about no payment when the request shows none', async () => {
  const request = { ...OWN_REQUEST, status: 'open', destination: undefined } as const
  const provider = showing({ ...request, latestPaymentId: undefined }, aCapture())
  provider.answer('getPayment', { kind: 'not_found' })

  await askForNews({ provider }, { providerPaymentId: 'py-1', paymentRequestId: 'pr-own' })

  expect(provider.countOf('getPayment')).toBe(1)
})

it('askForNews takes the reason of a failed request from its payment', async () => {
  const ended = { status: 'failed', latestPaymentId: 'py-1', destination: undefined } as const
  const provider = showing(
    { ...OWN_REQUEST, ...ended },
    aCapture({ status: 'failed', failureReason: 'declined' }),
  )

  for (const subject of [{ paymentRequestId: 'pr-own' }, { providerPaymentId: 'py-1' }]) {
    const failed = { requestStatus: 'failed', failureReason: 'declined' }
    expect(await askForNews({ provider }, subject)).toMatchObject({ news: failed })
  }
})

it.each([
  ['the credited request', { paymentRequestId: 'pr-own', reference: 'another' }, true],
  ['another request', { paymentRequestId: 'pr-2', reference: 'any' }, false],
  ['the credited capture', { providerPaymentId: 'py-1', reference: 'another' }, true],
  ['another capture', { providerPaymentId: 'py-2', reference: 'any' }, false],
])('a dispute of %s is of credited money or not, whatever its reference', (_, ids, isOfCredit) => {
  const capture = { ...OWN_REQUEST, providerPaymentId: 'py-1' }

  expect(isAboutCredit({ ...SUCCEEDED, capture }, ids)).toBe(isOfCredit)
})
