import * as v from 'valibot'
import { limitParamOf, pageWeight } from '../../shared/page.ts'
import { apiHandler, asksForCsv, csvReply, ok, type SentQuery } from '../../shared/runtime/api-handler.ts'
import { csv } from '../../shared/settlement/statement/csv.ts'
import { settledPayments } from '../../shared/settlement/statement/settled-payments.ts'

const MOST = 1_000
const USUAL = 100

const query = v.object({ after: v.optional(v.string()), limit: limitParamOf(USUAL, MOST) })

const weight = ({ limit }: SentQuery) => pageWeight(Number(limit || USUAL), MOST)

const COLUMNS = [
  'payment_id',
  'external_reference',
  'method',
  'channel_code',
  'paid_at',
  'notional_minor',
  'xendit_fee_minor',
  'hexolus_markup_minor',
  'client_net_minor',
] as const

/** GET /v1/settlements/{id}/payments (design section 8), as JSON or CSV. */
export const handler = apiHandler({ query, weight }, async ({ clientId, id, query: asked, accept }, deps) => {
  const { payments, next } = await settledPayments(deps, { clientId, id, ...asked })
  if (!asksForCsv(accept)) return ok({ data: payments, next: next ?? null, has_more: next !== undefined })
  const more = next && `/v1/settlements/${id}/payments?after=${next}&limit=${asked.limit}`
  return csvReply(csv(COLUMNS, payments), more)
})
