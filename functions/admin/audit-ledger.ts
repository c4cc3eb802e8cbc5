import * as v from 'valibot'
import { auditLedger } from '../../shared/audit/run-audits.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  "Recomputes a merchant's ledger from its payments and settlements, lists every difference " +
  'and reports it. Changes no money.'
const input = v.strictObject({ client_id: v.string() })

export const handler = adminHandler({ summary, input }, ({ clientId }, deps) =>
  auditLedger(deps, clientId),
)
