import * as v from 'valibot'
import { auditClient } from '../../shared/audit/audit-client.ts'
import { ClientIdSchema } from '../../shared/ids.ts'
import { queueHandler } from '../../shared/runtime/queue-handler.ts'

const Message = v.object({ client_id: ClientIdSchema, again: v.optional(v.boolean(), false) })

/** Audits one client of the day (design section 4, "Audit"). Safe to repeat: it changes nothing of the books. */
export const handler = queueHandler(Message, (message, deps) =>
  auditClient(deps, message.client_id, { again: message.again }),
)
