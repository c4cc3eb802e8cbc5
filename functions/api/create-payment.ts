import { createPayment } from '../../shared/payment/create/create-payment.ts'
import {
  parseIdempotencyKey,
  parsePaymentRequest,
} from '../../shared/payment/create/parse-payment-request.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { apiHandler, reply } from '../../shared/runtime/api-handler.ts'

/**
 * POST /v1/payments (spec 4.1). Safe to retry with the same Idempotency-Key: a replay answers 200.
 */
export const handler = apiHandler({ creates: true }, async (request, deps) => {
  const { payment, replayed } = await createPayment(deps, {
    client: request.client,
    idempotencyKey: parseIdempotencyKey(request.idempotencyKey),
    parsed: parsePaymentRequest(request.rawBody, { now: deps.now(), provider: deps.provider }),
  })
  const body = toPaymentDto(payment)
  return replayed ? reply(200, body, { 'idempotency-replayed': 'true' }) : reply(201, body)
})
