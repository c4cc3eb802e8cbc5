/**
 * Goal: a callback that can change nothing costs no call, and one that crosses another change decides by what is true.
 * Method: callbacks come again, and the payment moves while the provider is asked.
 */
import { describe, expect, it } from 'vitest'
import { noteCancelRequested } from '../../../shared/payment/due-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aHidden, captureBody, expiryBody } from './hidden-capture.ts'

describe('a callback about a capture that is credited', () => {
  it('asks the provider nothing and writes nothing, however often it comes', async () => {
    const { deps, payment, providerPaymentId, show, say, stored } = await aHidden('missing')
    show()
    expect(await say(captureBody(payment, providerPaymentId))).toBe('applied')
    const [asked, before] = [deps.provider.calls.length, await stored()]

    for (let time = 0; time < 20; time++) expect(await say(captureBody(payment, providerPaymentId))).toBe('ignored')

    expect(deps.provider.calls).toHaveLength(asked)
    expect(await stored()).toStrictEqual(before)
  })

  it('asks about another capture of the same payment, and holds its money', async () => {
    const { deps, payment, providerPaymentId, show, say } = await aHidden('missing')
    show()
    await say(captureBody(payment, providerPaymentId))
    const second = deps.provider.pay(payment.paymentRequestId)

    expect(await say(captureBody(payment, second))).toBe('applied')

    expect(await findSuspense(deps, second)).toMatchObject({ cause: 'second_capture' })
  })
})

describe('a payment that changes while the provider is asked', () => {
  it('is read again: money for one that was cancelled meanwhile is held', async () => {
    const { deps, client, payment, providerPaymentId, show, say, stored } = await aHidden('missing')
    show()
    const value = deps.provider.payments.get(providerPaymentId)
    deps.provider.script('getPayment', async () => {
      deps.provider.heal('getPayment')
      await closePayment(deps, payment, { status: 'cancelled', source: 'cancel' })
      return value ? { kind: 'found', value } : { kind: 'not_found' }
    })

    expect(await say(captureBody(payment, providerPaymentId))).toBe('applied')

    expect(await stored()).toMatchObject({ status: 'cancelled' })
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'payment_not_pending' })
    expect(await ledgerView(deps, client.clientId)).toMatchObject({ pendingMinor: 0 })
  })

  it('is closed by what was noted before the answer: a cancel that was asked for meanwhile is no failure', async () => {
    const { deps, payment, say, stored } = await aHidden('missing')
    deps.provider.script('getRequest', async () => {
      deps.provider.heal('getRequest')
      await noteCancelRequested(deps, payment.paymentId, deps.now(), deps.now())
      return {
        kind: 'found',
        value: {
          ...deps.provider.requestOf(payment.paymentRequestId),
          status: 'cancelled',
          latestPaymentId: undefined,
        },
      }
    })

    expect(await say(expiryBody(payment))).toBe('applied')

    expect(await stored()).toMatchObject({ status: 'cancelled' })
  })
})

describe('a request’s status callback', () => {
  it('about a payment that is terminal is answered without asking', async () => {
    const { deps, payment, show, say, stored } = await aHidden('missing')
    show()
    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')
    const [before, asked] = [await stored(), deps.provider.calls.length]

    expect(await say(expiryBody(payment))).toBe('ignored')

    expect(deps.provider.calls).toHaveLength(asked)
    expect(await stored()).toEqual(before)
  })

  it('about a payment that is pending is asked about', async () => {
    const { deps, payment, say, stored } = await aHidden('missing')
    deps.provider.close(payment.paymentRequestId, 'expired')

    expect(await say(expiryBody(payment))).toBe('applied')

    expect(await stored()).toMatchObject({ status: 'expired' })
  })
})
