import * as v from 'valibot'
import { limitParamOf } from '../../shared/page.ts'
import { apiHandler, asksForCsv, csvReply, ok } from '../../shared/runtime/api-handler.ts'
import { csv } from '../../shared/settlement/statement/csv.ts'
import {
  ENTRY_COLUMNS,
  settlementEntries,
} from '../../shared/settlement/statement/settlement-entries.ts'

const query = v.object({ after: v.optional(v.string()), limit: limitParamOf(100, 1_000) })

/**
 * GET /v1/settlements/{id}/payments (design section 8): the settlement's entries, as JSON or CSV.
 */
export const handler = apiHandler(
  { query },
  async ({ clientId, id, query: params, accept }, deps) => {
    const { entries, next } = await settlementEntries(deps, { clientId, id, ...params })
    if (!asksForCsv(accept))
      return ok({ data: entries, next: next ?? null, has_more: next !== undefined })
    const more = next && `/v1/settlements/${id}/payments?after=${next}&limit=${params.limit}`
    return csvReply(csv(ENTRY_COLUMNS, entries), more)
  },
)
