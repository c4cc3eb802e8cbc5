import * as v from 'valibot'
import { auditClient } from '../../shared/audit/audit-client.ts'
import { auditGateway } from '../../shared/audit/audit-gateway.ts'
import { ClientIdSchema } from '../../shared/ids.ts'
import { queueHandler } from '../../shared/runtime/worker-handlers.ts'

const audit_id = v.optional(v.string())

/** A client, or the gateway. `audit_id`: of the audit that the message continues. */
const Message = v.union([
  v.object({ client_id: ClientIdSchema, audit_id }),
  v.object({ gateway: v.literal(true), audit_id }),
])

/** Runs the audit that the message names. Safe to repeat: it changes no money. */
export const handler = queueHandler(Message, async (deps, message) => {
  if ('client_id' in message) await auditClient(deps, message.client_id, message.audit_id)
  else await auditGateway(deps, message.audit_id)
})
