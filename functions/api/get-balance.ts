import * as v from 'valibot'
import { toBalanceDto } from '../../shared/ledger/balance-dto.ts'
import { getBalance } from '../../shared/ledger/ledger-store.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'

const query = v.object({
  currency: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (currency) => currency === 'IDR',
        ({ input }) => `unsupported currency: ${input.slice(0, 64).toWellFormed()}`,
      ),
    ),
  ),
  /** Adds the settlements' figures: money in settlement and paid out. */
  include: v.optional(v.literal('settlements', 'include must be settlements')),
})

/** GET /v1/balance (spec 4.5). */
export const handler = apiHandler({ query }, async ({ clientId, query: { include } }, deps) => {
  const balance = await getBalance(deps, clientId)
  return ok(toBalanceDto(clientId, balance, { settlements: include !== undefined }))
})
