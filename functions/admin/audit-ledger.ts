import * as v from 'valibot'
import { auditLedger } from '../../shared/audit/audit-ledger.ts'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

/** Recomputes a merchant's ledger from its payments and settlements and lists every difference. Changes nothing. */
export const handler = adminHandler(v.strictObject({ client_id: v.string() }), (input, deps) =>
  auditLedger(deps, parseClientId(input.client_id)),
)
