import * as v from 'valibot'
import { auditLedger } from '../../shared/audit/audit-client.ts'
import { auditGateway } from '../../shared/audit/audit-gateway.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  "Recomputes a merchant's ledger from its payments and settlements, lists every difference " +
  'and reports it. Without client_id: the house journal, suspense and the registers. Changes no ' +
  'money.'
const input = v.strictObject({ client_id: v.optional(v.string()) })

export const handler = adminHandler({ summary, input }, ({ clientId }, deps) =>
  clientId === undefined ? auditGateway(deps) : auditLedger(deps, clientId),
)
