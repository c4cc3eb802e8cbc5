import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { ENDPOINT_FIELDS, toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'
import { registerEndpoint } from '../../shared/webhook/endpoint/register-endpoint.ts'

/** Registers where a merchant gets its webhooks (spec 2.4). The signing secret is in this answer and in no other. */
export const handler = adminHandler(
  v.strictObject({
    operator: OPERATOR,
    client_id: v.string(),
    url: ENDPOINT_FIELDS.url,
    event_types: ENDPOINT_FIELDS.event_types,
  }),
  async (input, deps) => {
    const { endpoint, signingSecret } = await registerEndpoint(deps, {
      clientId: parseClientId(input.client_id),
      operator: input.operator,
      url: input.url,
      eventTypes: input.event_types,
    })
    return { ...toEndpointDto(endpoint), signing_secret: signingSecret }
  },
)
