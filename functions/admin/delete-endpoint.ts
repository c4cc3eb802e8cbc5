import * as v from 'valibot'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { deleteEndpoint } from '../../shared/webhook/endpoint/change-endpoint.ts'
import { toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

const summary =
  'Deletes an endpoint and its secret; its deliveries in progress become skipped. Safe to repeat.'
const input = v.strictObject({ operator: OPERATOR, client_id: v.string(), endpoint_id: v.string() })

export const handler = adminHandler({ summary, input }, async (request, deps) =>
  toEndpointDto(await deleteEndpoint(deps, request)),
)
