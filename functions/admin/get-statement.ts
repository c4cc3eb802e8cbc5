import * as v from 'valibot'
import { periodFields } from '../../shared/books/book-period.ts'
import { clientStatement } from '../../shared/books/client-statement.ts'
import { toStatementReport } from '../../shared/books/statement-dto.ts'
import { requireClient } from '../../shared/client/client-store.ts'
import { GatewayError } from '../../shared/errors.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject({ client_id: v.string(), ...periodFields })

/** Well below the size limit of a Lambda's answer. */
const LINES = 5_000

export const handler = adminHandler(
  {
    summary:
      'The statement of a merchant for days of Jakarta, as the merchant reads it: what was owed, ' +
      'each movement and payout, and what is owed. Without dates, this month so far.',
    input,
  },
  async (deps, { clientId: id, from, to, format, cursor }) => {
    const { clientId } = await requireClient(deps, id)
    const asked = { clientId, from, to, after: cursor, limit: LINES, field: 'cursor' } as const
    const page = await clientStatement(deps, asked, async ({ day }) => {
      throw new GatewayError(
        'internal_error',
        `the statement up to ${day} does not add up: the journal and the stored totals differ`,
        { actionHint: `Run audit-ledger --client_id ${clientId}, which names the difference.` },
      )
    })
    return toStatementReport(page, { format, isContinued: cursor !== undefined })
  },
)
