import * as v from 'valibot'
import { queueHandler } from '../../shared/runtime/queue-handler.ts'
import { shareSync } from '../../shared/sync/share-sync.ts'

/** Runs a share of the sync. `woken`: callbacks were deferred, and the head handles all of them. */
export const handler = queueHandler(v.object({ woken: v.optional(v.boolean(), false) }), (message, deps) =>
  shareSync(deps, message),
)
