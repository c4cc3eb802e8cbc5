import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/close-settlement.ts'
import { listPayouts, listSettlements } from '../../shared/settlement/settlement-store.ts'

const input = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    status: v.optional(v.literal('recorded')),
    ...pageFields,
  }),
  v.check(
    ({ client_id, status }) => (client_id === undefined) !== (status === undefined),
    'give client_id, or status recorded for what is to be paid out over all clients',
  ),
)

/** A merchant's settlements, newest period first; or, with status recorded, every payout that waits for an operator. */
export const handler = adminHandler(input, async (request, deps) => {
  const page = pageOf(request)
  const settlements =
    request.client_id === undefined
      ? await listPayouts(deps, page)
      : await listSettlements(deps, parseClientId(request.client_id), page)
  return { data: settlements.map(toOperatorSettlement), pagination: pagination(page) }
})
