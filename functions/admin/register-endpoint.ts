import * as v from 'valibot'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { registerEndpoint } from '../../shared/webhook/endpoint/change-endpoint.ts'
import { ENDPOINT_FIELDS, toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.string(),
  url: ENDPOINT_FIELDS.url,
  event_types: ENDPOINT_FIELDS.event_types,
})

export const handler = adminHandler(
  {
    summary:
      "Registers a merchant's webhook endpoint (spec 2.4). Only this answer shows the signing " +
      'secret.',
    input,
  },
  async (deps, request) => {
    const { endpoint, signingSecret } = await registerEndpoint(deps, request)
    return { ...toEndpointDto(endpoint), signing_secret: signingSecret }
  },
)
