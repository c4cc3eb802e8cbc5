import * as v from 'valibot'
import { queueHandler } from '../../shared/runtime/worker-handlers.ts'
import { runSyncJobs } from '../../shared/sync/sync-run.ts'

/**
 * Does due work of the sync. `woken`: callbacks were deferred, so the run also reads rows updated
 * since the last round.
 */
export const handler = queueHandler(
  v.object({ woken: v.optional(v.boolean(), false) }),
  runSyncJobs,
)
