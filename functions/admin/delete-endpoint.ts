import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { deleteEndpoint } from '../../shared/webhook/endpoint/change-endpoint.ts'
import { parseEndpointId, toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

/** Deletes an endpoint and its secret; deliveries under way to it become skipped. Safe to repeat. */
export const handler = adminHandler(
  v.strictObject({ operator: OPERATOR, client_id: v.string(), endpoint_id: v.string() }),
  async (input, deps) => {
    const endpoint = await deleteEndpoint(deps, {
      clientId: parseClientId(input.client_id),
      endpointId: parseEndpointId(input.endpoint_id),
      operator: input.operator,
    })
    return toEndpointDto(endpoint)
  },
)
