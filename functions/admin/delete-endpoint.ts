import { adminHandler, ENDPOINT } from '../../shared/runtime/admin-handler.ts'
import { deleteEndpoint } from '../../shared/webhook/endpoint/change-endpoint.ts'
import { toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

const summary =
  'Deletes an endpoint and its secret; its deliveries in progress become skipped. Safe to repeat.'

export const handler = adminHandler({ summary, input: ENDPOINT }, async (deps, request) =>
  toEndpointDto(await deleteEndpoint(deps, request)),
)
