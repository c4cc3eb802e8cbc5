import * as v from 'valibot'
import { getBalance, toBalanceDto } from '../../shared/ledger/balance.ts'
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
})

/** GET /v1/balance (spec 4.5). */
export const handler = apiHandler({ query }, async ({ clientId }, deps) =>
  ok(toBalanceDto(clientId, await getBalance(deps, clientId))),
)
