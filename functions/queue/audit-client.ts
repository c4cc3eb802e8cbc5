import * as v from 'valibot'
import { auditClient } from '../../shared/audit/audit-client.ts'
import { ClientIdSchema } from '../../shared/ids.ts'
import { queueHandler } from '../../shared/runtime/queue-handler.ts'

/** Audits one client of the day (design section 4, "Audit"). Safe to repeat: it changes nothing of the books. */
export const handler = queueHandler(v.object({ client_id: ClientIdSchema }), (message, deps) =>
  auditClient(deps, message.client_id),
)
