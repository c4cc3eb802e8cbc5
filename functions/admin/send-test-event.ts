import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { toDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { sendTestEvent } from '../../shared/webhook/delivery/send-test-event.ts'
import { parseEndpointId } from '../../shared/webhook/endpoint/endpoint-dto.ts'

/** Sends a `gateway.test` event to one endpoint; list-deliveries with its event_id shows what became of it. */
export const handler = adminHandler(
  v.strictObject({ operator: v.optional(OPERATOR, 'not given'), client_id: v.string(), endpoint_id: v.string() }),
  async (input, deps) => {
    const delivery = await sendTestEvent(deps, {
      clientId: parseClientId(input.client_id),
      endpointId: parseEndpointId(input.endpoint_id),
      operator: input.operator,
    })
    return toDeliveryDto(delivery, [])
  },
)
