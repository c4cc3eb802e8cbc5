import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { requireClient } from '../../shared/client/client-store.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'
import { listPayouts, listSettlements } from '../../shared/settlement/settlement-store.ts'

const summary =
  "A merchant's settlements, newest period first; or, with status recorded, every payout that waits for an operator."
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

export const handler = adminHandler({ summary, input }, async (request, deps) => {
  const page = pageOf(request)
  const clientId = request.client_id === undefined ? undefined : parseClientId(request.client_id)
  if (clientId !== undefined) await requireClient(deps, clientId)
  const settlements =
    clientId === undefined ? await listPayouts(deps, page) : await listSettlements(deps, clientId, page)
  return {
    data: settlements.map((settlement) => toOperatorSettlement(settlement, deps.now())),
    pagination: pagination(page),
  }
})
