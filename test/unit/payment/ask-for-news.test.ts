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

/** A provider that knows one request and its latest payment. */
const upstream = (status: ProviderPayment['status']) => {
  const provider = fakeProvider()
  provider.script('getRequest', async () => ({ kind: 'found', value: REQUEST }))
  provider.script('getPayment', async () => ({ kind: 'found', value: { ...PAYMENT, status } }))
  return provider
}

describe('askForNews (design section 4, Provider news)', () => {
  it.each([{ providerPaymentId: 'py-1' }, { paymentRequestId: 'pr-1' }])('finds a capture by %j', async (subject) => {
    const answer = await askForNews({ provider: upstream('captured') }, subject)

    expect(answer).toMatchObject({ kind: 'news', news: { reference: REQUEST.reference, capture: PAYMENT } })
  })

  it.each(['open', 'failed'] as const)('takes a payment that is %s for no money, whoever names it', async (status) => {
    for (const subject of [{ providerPaymentId: 'py-1' }, { paymentRequestId: 'pr-1' }]) {
      const answer = await askForNews({ provider: upstream(status) }, subject)

      expect(answer).toMatchObject({ kind: 'news', news: { capture: undefined, requestStatus: 'expired' } })
    }
  })

  it.each([{ providerPaymentId: 'py-1', paymentRequestId: 'pr-1' }, { paymentRequestId: 'pr-1' }])(
    'says nothing of %j while nobody can be asked about its money',
    async (subject) => {
      const provider = upstream('captured')
      provider.script('getPayment', async () => UNREACHABLE)

      expect(await askForNews({ provider }, subject)).toStrictEqual(UNREACHABLE)
    },
  )

  it('believes the capture itself about whose money it is, whatever request led to it', async () => {
    const provider = upstream('captured')
    const another = { ...PAYMENT, paymentRequestId: 'pr-2', reference: 'another-reference' }
    provider.script('getPayment', async () => ({ kind: 'found', value: another }))

    const answer = await askForNews({ provider }, { paymentRequestId: 'pr-1' })

    expect(answer).toMatchObject({
      news: { reference: 'another-reference', paymentRequestId: 'pr-2', capture: another },
    })
  })

  it.each<[string, Partial<ProviderRequest>, ProviderPayment['status'] | undefined]>([
    ['is not there yet', {}, undefined],
    ['is not received yet', {}, 'open'],
    ['is not named yet', { latestPaymentId: undefined }, 'open'],
  ])('makes nothing of a request that succeeded while its capture %s', async (_case, fields, status) => {
    const provider = upstream(status ?? 'open')
    provider.script('getRequest', async () => ({
      kind: 'found',
      value: { ...REQUEST, status: 'succeeded', ...fields },
    }))
    if (status === undefined) provider.script('getPayment', async () => ({ kind: 'not_found' }))

    for (const subject of [{ providerPaymentId: 'py-1', paymentRequestId: 'pr-1' }, { paymentRequestId: 'pr-1' }]) {
      expect(await askForNews({ provider }, subject)).toStrictEqual({ kind: 'not_shown' })
    }
  })

  it('asks about the request when the payment named does not exist', async () => {
    const provider = upstream('captured')
    provider.script('getPayment', async (id) =>
      id === 'py-1' ? { kind: 'found', value: PAYMENT } : { kind: 'not_found' },
    )

    const answer = await askForNews({ provider }, { providerPaymentId: 'py-forged', paymentRequestId: 'pr-1' })

    expect(answer).toMatchObject({ kind: 'news', news: { capture: PAYMENT } })
  })

  it.each([{}, { providerPaymentId: 'py-forged' }])('finds nothing by %j', async (subject) => {
    expect(await askForNews({ provider: fakeProvider() }, subject)).toStrictEqual({ kind: 'not_found' })
  })
})
