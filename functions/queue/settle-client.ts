import * as v from 'valibot'
import { ClientIdSchema } from '../../shared/ids.ts'
import { OpenRowSchema } from '../../shared/posting/assume-fee.ts'
import { queueHandler } from '../../shared/runtime/worker-handlers.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'

const message = v.object({
  client_id: ClientIdSchema,
  /** The operator who triggered the settlement; absent for the sweep. */
  operator: v.optional(v.string()),
  request_id: v.optional(v.string()),
  /** An earlier run has asked about the overdue payments up to and with this payment. */
  overdue_after: v.optional(OpenRowSchema),
})

/** Settles one client (spec 3.2). Safe to repeat: settled entries are no longer eligible. */
export const handler = queueHandler(message, async (deps, settle) => {
  const { client_id, operator, request_id: requestId, overdue_after: overdueAfter } = settle
  await settleClient(deps, client_id, { operator, requestId, overdueAfter })
})
