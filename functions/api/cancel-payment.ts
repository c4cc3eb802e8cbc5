import { cancelPayment } from '../../shared/payment/news/cancel-payment.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'

/** POST /v1/payments/{id}/cancel (spec 4.4). Safe to repeat. */
export const handler = apiHandler({}, async ({ clientId, id }, deps) =>
  ok(toPaymentDto(await cancelPayment(deps, { clientId, id }))),
)
