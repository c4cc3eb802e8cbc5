import * as v from 'valibot'
import { clientStatement } from '../../shared/books/client-statement.ts'
import { refuseStatement } from '../../shared/books/refuse-statement.ts'
import { statementCsv, toStatementDto } from '../../shared/books/statement-dto.ts'
import { BookDaySchema } from '../../shared/journal/day-totals.ts'
import { limitParamOf } from '../../shared/page.ts'
import { apiHandler } from '../../shared/runtime/api-handler.ts'
import { pageReply } from '../../shared/settlement/statement/entries-reply.ts'

const query = v.strictObject({
  from: v.optional(BookDaySchema),
  to: v.optional(BookDaySchema),
  after: v.optional(v.string()),
  limit: limitParamOf(100, 1_000),
})

/** GET /v1/statement (design section 8): the merchant's account by days, as JSON or CSV. */
export const handler = apiHandler(
  { query, mostUnits: 3_000 },
  async ({ clientId, query: params, headers }, deps) => {
    const asked = { clientId, ...params, field: 'after' } as const
    const page = await clientStatement(deps, asked, (unsound) => refuseStatement(deps, unsound))
    const { from, to, next } = page
    const pathOf = (after: string) =>
      `/v1/statement?from=${from}&to=${to}&after=${after}&limit=${params.limit}`
    return pageReply(
      next,
      { accept: headers['accept'], pathOf },
      { json: () => toStatementDto(page), csv: () => statementCsv(page) },
    )
  },
)
