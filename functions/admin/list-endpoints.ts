import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'
import { listEndpoints } from '../../shared/webhook/endpoint/list-endpoints.ts'

/** A merchant's endpoints, disabled ones too, newest first, without their secrets. */
export const handler = adminHandler(v.strictObject({ client_id: v.string(), ...pageFields }), async (input, deps) => {
  const page = pageOf(input)
  const endpoints = await listEndpoints(deps, parseClientId(input.client_id), page)
  return { data: endpoints.map(toEndpointDto), pagination: pagination(page) }
})
