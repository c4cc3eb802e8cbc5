import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { findPayment } from '../../shared/payment/payment-store.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'

/** GET /v1/payments/{id} (spec 4.3). */
export const handler = apiHandler({}, async ({ clientId, id }, deps) =>
  ok(toPaymentDto(await findPayment(deps, clientId, id))),
)
