import * as v from 'valibot'
import { auditClient } from '../../shared/audit/audit-client.ts'
import { ClientIdSchema } from '../../shared/ids.ts'
import { queueHandler } from '../../shared/runtime/queue-handler.ts'
import { TimestampSchema } from '../../shared/time.ts'

const Message = v.object({
  client_id: ClientIdSchema,
  again: v.optional(v.boolean(), false),
  /** Its books are compared, and not audited; not before a difference is old enough to count. */
  books: v.optional(v.boolean(), false),
  not_before: v.optional(TimestampSchema),
})

/** Audits one client of the day, or compares its books with the provider's. Safe to repeat: it changes nothing of them. */
export const handler = queueHandler(Message, ({ client_id }, deps) => auditClient(deps, client_id))
