import { receiveCallback } from '../../../shared/payment/news/receive-callback.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { aPaid } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

export const TOKEN = 'a-callback-token-of-tests'
export const withSecret = (deps: TestDeps) =>
  deps.secretValues.set(
    callbackSecretName('test'),
    JSON.stringify({ callback_tokens: [TOKEN, 'another-token-of-tests'] }),
  )

export const captureBody = (payment: Payment, providerPaymentId: string) => ({
  event: 'payment.capture',
  data: {
    payment_id: providerPaymentId,
    payment_request_id: payment.paymentRequestId,
    reference_id: `${payment.paymentId}-1`,
  },
})

export const expiryBody = (payment: Payment) => ({
  event: 'payment_request.expiry',
  data: { payment_request_id: payment.paymentRequestId, reference_id: `${payment.paymentId}-1` },
})

/** A payment whose customer has paid, at a provider whose read side shows the request and not its money. */
export const aHidden = async (as: 'missing' | 'open') => {
  const { deps, client, payment, providerPaymentId } = await aPaid()
  withSecret(deps)
  const shown = deps.provider.payments.get(providerPaymentId)
  if (!shown) throw new Error('nobody paid')
  if (as === 'missing') deps.provider.payments.delete(providerPaymentId)
  else deps.provider.payments.set(providerPaymentId, { ...shown, status: 'open' })
  deps.clock.advance(1)
  return {
    deps,
    client,
    payment,
    providerPaymentId,
    show: () => deps.provider.payments.set(providerPaymentId, shown),
    say: (body: object) =>
      receiveCallback(deps, { isGenuine: true, rawBody: Buffer.from(JSON.stringify(body)), parse: parseCallback }),
    stored: () => findStoredPayment(deps, payment.paymentId),
  }
}
