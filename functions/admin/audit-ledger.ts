import * as v from 'valibot'
import { auditLedger } from '../../shared/audit/audit-ledger.ts'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  "Recomputes a merchant's ledger from its payments and settlements and lists every difference. Changes nothing."
const input = v.strictObject({
  client_id: v.string(),
})

export const handler = adminHandler({ summary, input }, ({ client_id }, deps) =>
  auditLedger(deps, parseClientId(client_id)),
)
