import * as v from 'valibot'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { toOwnEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'
import { newestEndpoints } from '../../shared/webhook/endpoint/endpoint-store.ts'

/**
 * GET /v1/webhook_endpoints (design section 8): all endpoints that are not deleted, without
 * secrets.
 */
export const handler = apiHandler({ query: v.strictObject({}) }, async ({ clientId }, deps) =>
  ok({ data: (await newestEndpoints(deps, clientId)).map(toOwnEndpointDto) }),
)
