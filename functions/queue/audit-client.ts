import * as v from 'valibot'
import { auditGateway } from '../../shared/audit/audit-gateway.ts'
import { auditClient, auditRecordedSettlement } from '../../shared/audit/run-audits.ts'
import { ClientIdSchema, SettlementIdSchema } from '../../shared/ids.ts'
import { queueHandler } from '../../shared/runtime/worker-handlers.ts'

/** A client's daily audit, a settlement recorded a minute ago, or the gateway. */
const Message = v.union([
  v.object({ client_id: ClientIdSchema }),
  v.object({ settlement_id: SettlementIdSchema }),
  v.object({ gateway: v.literal(true) }),
])

/** Runs the audit that the message names. Safe to repeat: it changes no money. */
export const handler = queueHandler(Message, (message, deps) => {
  if ('client_id' in message) return auditClient(deps, message.client_id)
  if ('settlement_id' in message) return auditRecordedSettlement(deps, message.settlement_id)
  return auditGateway(deps)
})
