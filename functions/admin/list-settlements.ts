import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { requireClient } from '../../shared/client/client-store.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { payoutFile } from '../../shared/payout/payout-file.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'
import { listPayouts, listSettlements } from '../../shared/settlement/settlement-store.ts'

const summary =
  "A merchant's settlements, newest period first; or, with status recorded, every payout that waits for an operator, " +
  'with format csv as a file for the bank.'

const fields = v.strictObject({
  client_id: v.optional(v.string()),
  status: v.optional(v.literal('recorded')),
  format: v.optional(v.picklist(['json', 'csv']), 'json'),
  cursor: v.optional(v.string()),
  ...pageFields,
})
const WHOSE = 'give client_id, or status recorded for what is to be paid out over all clients'
const input = v.pipe(
  fields,
  v.check(({ client_id, status }) => (client_id === undefined) !== (status === undefined), WHOSE),
  v.check(({ status, format }) => status !== undefined || format === 'json', 'format csv goes with status recorded'),
)

export const handler = adminHandler({ summary, input }, async (request, deps) => {
  if (request.format === 'csv') return payoutFile(deps, request.cursor)
  const page = pageOf(request)
  const clientId = request.client_id === undefined ? undefined : parseClientId(request.client_id)
  if (clientId !== undefined) await requireClient(deps, clientId)
  const found = clientId === undefined ? await listPayouts(deps, page) : await listSettlements(deps, clientId, page)
  const data = found.map((settlement) => toOperatorSettlement(settlement, deps.now()))
  return { data, pagination: pagination(page) }
})
