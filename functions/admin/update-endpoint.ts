import * as v from 'valibot'
import { adminHandler, ENDPOINT } from '../../shared/runtime/admin-handler.ts'
import { updateEndpoint } from '../../shared/webhook/endpoint/change-endpoint.ts'
import { ENDPOINT_FIELDS, toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

const input = v.pipe(
  v.strictObject({
    ...ENDPOINT.entries,
    enabled: v.optional(ENDPOINT_FIELDS.enabled),
    event_types: v.optional(ENDPOINT_FIELDS.event_types),
  }),
  v.check(
    ({ enabled, event_types }) => enabled !== undefined || event_types !== undefined,
    'give enabled or event_types',
  ),
)

export const handler = adminHandler(
  {
    summary:
      'Enables or disables an endpoint, or changes its event types. For another URL, register ' +
      'another endpoint.',
    input,
  },
  async (deps, request) => toEndpointDto(await updateEndpoint(deps, request)),
)
