import * as v from 'valibot'
import { limitParamOf } from '../../shared/page.ts'
import { apiHandler } from '../../shared/runtime/api-handler.ts'
import { entriesReply } from '../../shared/settlement/statement/entries-reply.ts'
import { settlementEntries } from '../../shared/settlement/statement/settlement-entries.ts'

const query = v.strictObject({ after: v.optional(v.string()), limit: limitParamOf(100, 1_000) })

/**
 * GET /v1/settlements/{id}/payments (design section 8): the settlement's entries, as JSON or CSV.
 */
export const handler = apiHandler(
  { query, mostUnits: 310 },
  async ({ clientId, id, query: params, headers }, deps) => {
    const entries = await settlementEntries(deps, { clientId, id, ...params })
    const pathOf = (after: string) =>
      `/v1/settlements/${id}/payments?after=${after}&limit=${params.limit}`
    return entriesReply(entries, { accept: headers['accept'], pathOf })
  },
)
