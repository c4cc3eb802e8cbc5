import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { toOwnDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { redeliverOwn } from '../../shared/webhook/delivery/redeliver.ts'

/**
 * POST /v1/webhook_deliveries/{id}/redeliver (design section 8). While a round is in progress, a
 * repeat gets 422.
 */
export const handler = apiHandler({}, async ({ clientId, id }, deps) =>
  ok(toOwnDeliveryDto(await redeliverOwn(deps, clientId, id))),
)
