/**
 * Goal: a callback that is faster than the provider's own read side is not acknowledged and forgotten. Method: the
 * customer has paid and the request says so, while the capture is not there yet, or not yet received; then it appears.
 */
import { describe, expect, it } from 'vitest'
import { handler } from '../../../functions/callback/receive-provider-callback.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import { refreshPayment } from '../../../shared/payment/news/refresh-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import type { ProviderRequest } from '../../../shared/provider/provider.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs } from '../../../shared/time.ts'
import { call } from '../../support/api-event.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aCreating, checkWhenDue } from '../../support/payment-builders.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { aHidden, captureBody, TOKEN } from './hidden-capture.ts'

const HIDDEN = ['missing', 'open'] as const

describe('a callback faster than the provider’s own read side', () => {
  it.each(HIDDEN)(
    'is not acknowledged while its capture is %s: due at once, 5xx, credited when it is shown',
    async (as) => {
      const { deps, client, payment, providerPaymentId, show, stored } = await aHidden(as)
      const body = JSON.stringify(captureBody(payment, providerPaymentId))

      const endpoint = { route: 'POST /callbacks/xendit', handler }
      const { status } = await call(deps, endpoint, { body, headers: { 'x-callback-token': TOKEN } })

      expect(status).toBe(500)
      expect(await stored()).toMatchObject({ status: 'pending', dueAt: deps.now() })
      show()
      await checkWhenDue(deps, payment)
      expect(await stored()).toMatchObject({ status: 'succeeded', creditedProviderPaymentId: providerPaymentId })
      expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    },
  )

  it('is not acknowledged either while the provider cannot be asked, and its payment due at once', async () => {
    const { deps, payment, providerPaymentId, say, stored } = await aHidden('open')
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    expect(await say(captureBody(payment, providerPaymentId))).toBe('ask_again')
    expect(await stored()).toMatchObject({ status: 'pending', dueAt: deps.now() })
  })

  it.each(HIDDEN)('is asked about again in two minutes while its capture stays %s', async (as) => {
    const { deps, payment, stored } = await aHidden(as)
    const result = await checkWhenDue(deps, payment)

    expect(result).toBe('not_shown')
    expect(await stored()).toMatchObject({ status: 'pending', dueAt: addMs(deps.now(), 120_000) })
  })

  it('does not let its payment expire', async () => {
    const { deps, payment, show, stored } = await aHidden('missing')
    deps.clock.advance(86_400)

    const result = await checkWhenDue(deps, payment)

    expect(result).toBe('not_shown')
    expect(await stored()).toMatchObject({ status: 'pending' })
    show()
    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')
    expect(await stored()).toMatchObject({ status: 'succeeded' })
  })

  /** A payment of an unknown request: its process died, and the customer has paid. */
  const aHiddenCreating = async (request: Partial<ProviderRequest>) => {
    const { deps, payment, providerPaymentId, say } = await aHidden('missing')
    const { creating } = await aCreating()
    const paid = deps.provider.requestOf(payment.paymentRequestId)
    deps.provider.requests.set('pr-creating', { ...paid, paymentRequestId: 'pr-creating', ...request })
    const about = { ...payment, paymentId: creating.paymentId, paymentRequestId: 'pr-creating' }
    const dueAt = () => dueAtOf(deps, 'payment', creating.paymentId)
    return {
      deps,
      creating,
      providerPaymentId,
      say: () => say(captureBody(about, providerPaymentId)),
      stored: () => findStoredPayment(deps, creating.paymentId),
      dueAt,
      check: () => checkWhenDue(deps, creating),
    }
  }

  it('is remembered by a payment that is being created, looked at at once, and forgotten after an hour', async () => {
    const { deps, providerPaymentId, say, stored, dueAt, check } = await aHiddenCreating({})
    const remembered = { status: 'creating', rememberedProviderPaymentIds: new Set([providerPaymentId]) }

    expect(await say()).toBe('ask_again')
    expect(await stored()).toMatchObject(remembered)
    expect(await dueAt()).toBe(deps.now())
    expect(await check()).toBe('not_shown')
    expect(await stored()).toMatchObject(remembered)
    // By then the provider has called again.
    deps.clock.advance(3_600)
    expect(await check()).toBe('checked')

    expect(await stored()).not.toHaveProperty('rememberedProviderPaymentIds')
    expect(await dueAt()).toBeUndefined()
  })

  it.each([
    ['is open', true],
    ['cannot be found', false],
  ])('is asked for again when the payment is being created and its request %s too', async (_, isKnown) => {
    const { deps, say, stored } = await aHiddenCreating({ status: 'open', latestPaymentId: undefined })
    if (!isKnown) deps.provider.requests.delete('pr-creating')

    expect(await say()).toBe('ask_again')
    expect(await stored()).not.toHaveProperty('rememberedProviderPaymentIds')
  })

  it('is not asked for again when the money of a payment being created is in suspense', async () => {
    const { deps, creating, providerPaymentId, say } = await aHiddenCreating({ status: 'open' })
    deps.provider.payments.set(providerPaymentId, {
      providerPaymentId,
      paymentRequestId: 'pr-creating',
      reference: `${creating.paymentId}-1`,
      status: 'captured',
      currency: 'IDR',
      capturedMinor: minor(1),
    })

    expect(await say()).toBe('applied')
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'wrong_amount' })
  })

  it('answers 502 to the operator and to a cancel, who wait for the same money', async () => {
    const { deps, client, payment, stored } = await aHidden('open')

    const refresh = refreshPayment(deps, payment.paymentId, 'ayu')
    await expect(refresh).rejects.toMatchObject({ code: 'server_error' })
    expect(await stored()).toMatchObject({ status: 'pending', dueAt: deps.now() })

    const cancel = cancelPayment(deps, { clientId: client.clientId, id: payment.paymentId })
    await expect(cancel).rejects.toMatchObject({ code: 'server_error' })
    expect(await stored()).toMatchObject({ status: 'pending' })
  })

  it('makes no due work of a payment that is terminal, and is asked for again: its money will have to be held', async () => {
    const { deps, payment, providerPaymentId, show, say, stored } = await aHidden('missing')
    const request = deps.provider.requestOf(payment.paymentRequestId)
    deps.provider.close(payment.paymentRequestId, 'expired')
    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')
    deps.provider.requests.set(payment.paymentRequestId, request)

    expect(await say(captureBody(payment, providerPaymentId))).toBe('ask_again')

    expect(await stored()).toMatchObject({ status: 'expired' })
    expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
    show()
    expect(await say(captureBody(payment, providerPaymentId))).toBe('applied')
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'payment_not_pending' })
  })
})

describe('a callback whose money the provider does not confirm at all', () => {
  it('changes nothing but when its payment is looked at: at once', async () => {
    const { deps, payment, say, stored } = await aHidden('missing')
    const request = deps.provider.requestOf(payment.paymentRequestId)
    deps.provider.requests.set(payment.paymentRequestId, { ...request, status: 'open', latestPaymentId: undefined })

    expect(await say(captureBody(payment, 'py-unheard-of'))).toBe('applied')

    expect(await stored()).toEqual({ ...payment, dueAt: deps.now() })
  })
})
