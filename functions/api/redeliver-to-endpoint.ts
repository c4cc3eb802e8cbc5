import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { redeliverOwnSince } from '../../shared/webhook/delivery/redeliver.ts'
import { toRedeliveredDto } from '../../shared/webhook/delivery/redeliver-dto.ts'

/**
 * POST /v1/webhook_endpoints/{id}/redeliver (design section 8). Safe to repeat: it skips deliveries
 * in progress.
 */
export const handler = apiHandler({ mostUnits: 1_050 }, async ({ clientId, id, rawBody }, deps) => {
  const result = await redeliverOwnSince(deps, { clientId, id, rawBody })
  return ok({ ...toRedeliveredDto(result), next: result.next ?? null })
})
