import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { toSettlementDto } from '../../shared/settlement/settlement-dto.ts'
import { findSettlement } from '../../shared/settlement/settlement-store.ts'

/** GET /v1/settlements/{id} (spec 4.7). */
export const handler = apiHandler({}, async ({ clientId, id }, deps) =>
  ok(toSettlementDto(await findSettlement(deps, clientId, id))),
)
