import { describe, expect, it } from 'vitest'
import { receiveCallback } from '../../../shared/payment/news/receive-callback.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('receiveCallback', () => {
  const [NEW, OLD] = ['the-new-token-of-tests', 'the-old-token-of-tests'] as const
  const TOKENS = JSON.stringify({ callback_tokens: [NEW, OLD] })
  const dataOf = ({ paymentId, paymentRequestId }: Payment, providerPaymentId: string) => ({
    payment_id: providerPaymentId,
    payment_request_id: paymentRequestId,
    reference_id: `${paymentId}-1`,
    status: 'SUCCEEDED',
  })
  const aCallback = (payment: Payment, providerPaymentId: string) =>
    Buffer.from(JSON.stringify({ event: 'payment.capture', data: dataOf(payment, providerPaymentId) }))
  const withSecret = async () => {
    const deps = testDeps()
    deps.secretValues.set(callbackSecretName('test'), TOKENS)
    return { deps, payment: await aPendingPayment(deps, await aStoredClient(deps)) }
  }

  it.each([undefined, '', 'wrong', `${NEW}s`])('refuses the token %o and changes nothing', async (token) => {
    const { deps, payment } = await withSecret()
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)

    const attempt = receiveCallback(deps, { token, rawBody: aCallback(payment, providerPaymentId) })

    await expect(attempt).rejects.toMatchObject({ code: 'auth' })
    expect(await paymentOf(deps, { payment })).toEqual(payment)
    expect(deps.provider.countOf('getPayment')).toBe(0)
  })

  it.each([NEW, OLD])('accepts %s and applies what the provider says', async (token) => {
    const { deps, payment } = await withSecret()
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)

    expect(await receiveCallback(deps, { token, rawBody: aCallback(payment, providerPaymentId) })).toBe('applied')

    expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'succeeded' })
  })

  it('makes the payment due at once and asks for a repeat when the provider cannot be asked', async () => {
    const { deps, payment } = await withSecret()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))
    deps.clock.advance(1)

    const outcome = await receiveCallback(deps, { token: NEW, rawBody: aCallback(payment, 'py-1') })

    expect(outcome).toBe('ask_again')
    expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'pending', dueAt: deps.now() })
  })

  it.each(['not json', '{}', '{"event":"payout.succeeded","data":{"id":"x"}}', '[]', 'null'])(
    'ignores %s, which is nothing to ask about',
    async (text) => {
      const { deps } = await withSecret()

      expect(await receiveCallback(deps, { token: NEW, rawBody: Buffer.from(text) })).toBe('ignored')
    },
  )
})
