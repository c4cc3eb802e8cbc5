import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { toOwnDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { findOwnDelivery } from '../../shared/webhook/delivery/redeliver.ts'

/** GET /v1/webhook_deliveries/{id} (design section 8). */
export const handler = apiHandler({}, async ({ clientId, id }, deps) =>
  ok(toOwnDeliveryDto(await findOwnDelivery(deps, clientId, id))),
)
