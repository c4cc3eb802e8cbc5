import * as v from 'valibot'
import { auditLedger } from '../../shared/audit/audit-client.ts'
import { auditWholeGateway } from '../../shared/audit/audit-gateway.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject({
  client_id: v.optional(v.string()),
  from: v.optional(v.pipe(v.string(), v.maxLength(100))),
})

export const handler = adminHandler(
  {
    summary:
      "Recomputes a merchant's ledger from its payments and settlements, newest first, lists " +
      'every difference and reports it. Without client_id: the house journal, suspense and the ' +
      'registers. An answer with next has not read everything: repeat the call with from, that ' +
      'next, until an answer has none. The daily audits read what is unread. Changes no ' +
      'money.',
    input,
  },
  (deps, { clientId, from }) =>
    clientId === undefined ? auditWholeGateway(deps, from) : auditLedger(deps, clientId, from),
)
