import * as v from 'valibot'
import { ClientIdSchema } from '../../shared/ids.ts'
import { queueHandler } from '../../shared/runtime/worker-handlers.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'

const message = v.object({
  client_id: ClientIdSchema,
  /** The operator who triggered the settlement; absent for the sweep. */
  operator: v.optional(v.string()),
  request_id: v.optional(v.string()),
})

/** Settles one client of the sweep (spec 3.2). Safe to repeat: settled entries are no longer eligible. */
export const handler = queueHandler(message, async ({ client_id, operator, request_id: requestId }, deps) => {
  await settleClient(deps, client_id, { operator, requestId })
})
