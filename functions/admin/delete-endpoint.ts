import { adminHandler, ENDPOINT } from '../../shared/runtime/admin-handler.ts'
import { deleteEndpoint } from '../../shared/webhook/endpoint/change-endpoint.ts'
import { toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

export const handler = adminHandler(
  {
    summary:
      'Deletes an endpoint and its secret; its deliveries in progress become skipped. Safe to ' +
      'repeat.',
    input: ENDPOINT,
  },
  async (deps, request) => toEndpointDto(await deleteEndpoint(deps, request)),
)
