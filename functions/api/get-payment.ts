import { findPayment } from '../../shared/payment/find-payment.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'

/** GET /v1/payments/{id} (spec 4.3). */
export const handler = apiHandler({}, async ({ clientId, id }, deps) =>
  ok(toPaymentDto(await findPayment(deps, clientId, id))),
)
