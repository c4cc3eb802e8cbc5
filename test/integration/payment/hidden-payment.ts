import { receiveCallback } from '../../../shared/payment/news/receive-callback.ts'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import { knowCallbackToken } from '../../support/api-event.ts'
import { testDeps } from '../../support/test-deps.ts'
import { aScene } from './payment-test.ts'

/**
 * A payment whose customer has paid, at a provider whose read side shows the request, but not the
 * money.
 */
export async function aHiddenPayment(
  visibility: 'missing' | 'open' | 'unreachable' = 'missing',
  givenDeps = testDeps(),
) {
  const scene = await aScene({}, givenDeps)
  const { deps, payment } = scene
  const { payments } = deps.provider
  knowCallbackToken(deps)
  const providerPaymentId = scene.pay()
  const upstreamPayment = payments.get(providerPaymentId)
  if (!upstreamPayment) throw new Error('the provider has no such payment')
  payments.set(providerPaymentId, { ...upstreamPayment, status: 'open' })
  if (visibility === 'missing') payments.delete(providerPaymentId)
  if (visibility === 'unreachable') deps.provider.silence('getPayment')
  deps.clock.advance(1)
  const bodyOf = (
    event: string,
    { paymentRequestId, paymentId }: typeof payment,
    payment_id?: string,
  ) => ({
    event,
    data: { payment_id, payment_request_id: paymentRequestId, reference_id: `${paymentId}-1` },
  })
  const receive = (body: object, bytes = 0, callbackDeps = deps) => {
    const rawBody = Buffer.from(JSON.stringify(body).padEnd(bytes))
    return receiveCallback(callbackDeps, { isGenuine: true, rawBody, parse: parseCallback })
  }
  const captureBody = (target = payment) => bodyOf('payment.capture', target, providerPaymentId)
  return {
    ...scene,
    providerPaymentId,
    showMoney: () => {
      payments.set(providerPaymentId, upstreamPayment)
      deps.provider.heal('getPayment')
    },
    captureBody,
    receive,
    receivePaid: (target = payment) => receive(captureBody(target)),
    receiveExpired: () => receive(bodyOf('payment_request.expiry', payment)),
  }
}
