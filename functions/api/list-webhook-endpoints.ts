import * as v from 'valibot'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { endpointsWithHealth } from '../../shared/webhook/delivery/endpoints-with-health.ts'

/**
 * GET /v1/webhook_endpoints (design section 8): all endpoints that are not deleted, with their
 * health and without secrets.
 */
export const handler = apiHandler(
  { query: v.strictObject({}), mostUnits: 500 },
  async ({ clientId }, deps) => ok({ data: await endpointsWithHealth(deps, clientId) }),
)
