import { createPayment } from '../../shared/payment/create/create-payment.ts'
import {
  parseIdempotencyKey,
  parsePaymentRequest,
} from '../../shared/payment/create/parse-payment-request.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { apiHandler, reply } from '../../shared/runtime/api-handler.ts'

/**
 * POST /v1/payments (spec 4.1). Safe to retry with the same Idempotency-Key: a replay answers 200.
 * The header tells the caller that the payment was not made from this request's body.
 */
export const handler = apiHandler({ creates: true }, async (request, deps) => {
  const { payment, outcome } = await createPayment(deps, {
    client: request.client,
    startedMs: request.startedMs,
    idempotencyKey: parseIdempotencyKey(request.idempotencyKey),
    parsed: parsePaymentRequest(request.rawBody, { now: deps.now(), provider: deps.provider }),
  })
  return reply(
    outcome === 'replayed' ? 200 : 201,
    toPaymentDto(payment),
    outcome === 'created' ? {} : { 'idempotency-replayed': 'true' },
  )
})
