import * as v from 'valibot'
import { ClientIdSchema } from '../../shared/ids.ts'
import { queueHandler } from '../../shared/runtime/queue-handler.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'

/** Settles one client of the sweep (spec 3.2). Safe to repeat: what is settled is no longer eligible. */
export const handler = queueHandler(v.object({ client_id: ClientIdSchema }), async (message, deps) => {
  await settleClient(deps, message.client_id, { by: 'auto' })
})
