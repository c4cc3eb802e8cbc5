import * as v from 'valibot'
import { limitParamOf } from '../../shared/page.ts'
import { apiHandler, asksForCsv, csvReply, ok } from '../../shared/runtime/api-handler.ts'
import { csv } from '../../shared/settlement/statement/csv.ts'
import {
  balanceEntries,
  ENTRY_COLUMNS,
} from '../../shared/settlement/statement/settlement-entries.ts'
import { AnyTimeSchema, timestampOf } from '../../shared/time.ts'

/** The default of `since`: before the client's first entry. */
const BEGINNING = timestampOf(0)

const query = v.object({
  since: v.optional(AnyTimeSchema),
  after: v.optional(v.string()),
  limit: limitParamOf(100, 1_000),
})

/** GET /v1/balance/entries (design section 8): the merchant's journal, as JSON or CSV. */
export const handler = apiHandler({ query }, async ({ clientId, query: params, accept }, deps) => {
  const { since = BEGINNING, ...page } = params
  const { entries, next } = await balanceEntries(deps, { clientId, since, ...page })
  if (!asksForCsv(accept))
    return ok({ data: entries, next: next ?? null, has_more: next !== undefined })
  const more = next && `/v1/balance/entries?since=${since}&after=${next}&limit=${params.limit}`
  return csvReply(csv(ENTRY_COLUMNS, entries), more)
})
