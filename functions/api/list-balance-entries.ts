import * as v from 'valibot'
import { limitParamOf } from '../../shared/page.ts'
import { apiHandler } from '../../shared/runtime/api-handler.ts'
import { entriesReply } from '../../shared/settlement/statement/entries-reply.ts'
import { balanceEntries } from '../../shared/settlement/statement/settlement-entries.ts'
import { AnyTimeSchema, timestampOf } from '../../shared/time.ts'

/** The default of `since`: before the client's first entry. */
const BEGINNING = timestampOf(0)

const query = v.strictObject({
  since: v.optional(AnyTimeSchema),
  after: v.optional(v.string()),
  limit: limitParamOf(100, 1_000),
})

/** GET /v1/balance/entries (design section 8): the merchant's journal, as JSON or CSV. */
export const handler = apiHandler(
  // A page of 1,000 entries, and the index entries of as many settlements.
  { query, mostUnits: 340 },
  async ({ clientId, query: params, headers }, deps) => {
    const { since = BEGINNING, ...page } = params
    const entries = await balanceEntries(deps, { clientId, since, ...page })
    const pathOf = (after: string) =>
      `/v1/balance/entries?since=${since}&after=${after}&limit=${params.limit}`
    return entriesReply(entries, { accept: headers['accept'], pathOf })
  },
)
