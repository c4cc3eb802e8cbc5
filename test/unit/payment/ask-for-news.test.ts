import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { askForNews } from '../../../shared/payment/news/ask-for-news.ts'
import type { ProviderPayment, ProviderRequest } from '../../../shared/provider/provider.ts'
import { fakeProvider } from '../../support/fake-provider.ts'

const REQUEST: ProviderRequest = {
  paymentRequestId: 'pr-1',
  reference: 'the-reference-upstream',
  status: 'expired',
  latestPaymentId: 'py-1',
  destination: '123',
}

const PAYMENT: ProviderPayment = {
  providerPaymentId: 'py-1',
  paymentRequestId: 'pr-1',
  reference: 'the-reference-upstream',
  currency: 'IDR',
  status: 'captured',
  capturedMinor: minor(100_000),
}

const UNREACHABLE = { kind: 'unanswered', reason: 'unreachable' } as const
const found = <T>(value: T) => ({ kind: 'found', value }) as const

const [BY_PAYMENT, BY_REQUEST] = [{ providerPaymentId: 'py-1' }, { paymentRequestId: 'pr-1' }]
const BY_BOTH = { ...BY_PAYMENT, ...BY_REQUEST }

/** A provider that knows one request and, of every id, this payment. */
const upstream = (payment: Partial<ProviderPayment>) => {
  const provider = fakeProvider()
  provider.script('getRequest', async () => found(REQUEST))
  provider.script('getPayment', async () => found({ ...PAYMENT, ...payment }))
  return provider
}

// A capture that is not there, not received or not named yet: `receive-callback.test.ts`.
describe('askForNews (design section 4, Provider news)', () => {
  it.each(['open', 'failed'] as const)(
    'takes a payment that is %s for no money, in every answer that names it',
    async (status) => {
      const news = { capture: undefined, requestStatus: 'expired' }

      for (const subject of [BY_PAYMENT, BY_REQUEST]) {
        expect(await askForNews({ provider: upstream({ status }) }, subject)).toMatchObject({ kind: 'news', news })
      }
    },
  )

  it.each([BY_BOTH, BY_REQUEST])(
    'says nothing of %j while the provider does not answer about its money',
    async (subject) => {
      const provider = upstream({})
      provider.script('getPayment', async () => UNREACHABLE)

      expect(await askForNews({ provider }, subject)).toStrictEqual(UNREACHABLE)
    },
  )

  it('takes the payment from the capture itself, for any request that led to it', async () => {
    const another = { paymentRequestId: 'pr-2', reference: 'another-reference' }

    expect(await askForNews({ provider: upstream(another) }, BY_REQUEST)).toMatchObject({
      news: { ...another, capture: { ...PAYMENT, ...another } },
    })
  })
})
