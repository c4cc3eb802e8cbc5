import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { updateEndpoint } from '../../shared/webhook/endpoint/change-endpoint.ts'
import { ENDPOINT_FIELDS, parseEndpointId, toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

/** Enables or disables an endpoint, or changes what it subscribes to. The URL stays: another URL is another endpoint. */
export const handler = adminHandler(
  v.pipe(
    v.strictObject({
      operator: OPERATOR,
      client_id: v.string(),
      endpoint_id: v.string(),
      enabled: v.optional(ENDPOINT_FIELDS.enabled),
      event_types: v.optional(ENDPOINT_FIELDS.event_types),
    }),
    v.check(
      ({ enabled, event_types }) => enabled !== undefined || event_types !== undefined,
      'give enabled or event_types',
    ),
  ),
  async (input, deps) => {
    const endpoint = await updateEndpoint(deps, {
      clientId: parseClientId(input.client_id),
      endpointId: parseEndpointId(input.endpoint_id),
      operator: input.operator,
      enabled: input.enabled,
      eventTypes: input.event_types,
    })
    return toEndpointDto(endpoint)
  },
)
