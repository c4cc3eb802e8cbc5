import * as v from 'valibot'
import { readableRows } from '../../shared/if-valid.ts'
import { pageOf, pageParams, pagination } from '../../shared/page.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { toSettlementDto } from '../../shared/settlement/settlement-dto.ts'
import { listSettlements } from '../../shared/settlement/settlement-store.ts'

/** GET /v1/settlements (spec 4.6). */
export const handler = apiHandler(
  { query: v.strictObject(pageParams) },
  async ({ clientId, query }, deps) => {
    const page = pageOf(query)
    const list = await listSettlements(deps, clientId, page)
    const settlements = readableRows(deps, 'settlement', list)
    return ok({ data: settlements.map(toSettlementDto), pagination: pagination(page) })
  },
)
