import type { Deps } from '../deps.ts'
import { callsPerMinute } from '../provider/provider-quota.ts'
import { workersForQuota } from '../provider/workers-for-quota.ts'
import type { SliceDeps } from './read-slice.ts'
import { doDueJobs, endSync, type OnJobs, readHeadRounds, type SyncSummary, startSync } from './sync-run.ts'

const MIN_HELPERS = 9

/** Wakes other workers immediately instead of at the next tick. A worker without a job costs one query. */
const callingHelpers = ({ queues, stage, now }: Pick<Deps, 'queues' | 'stage' | 'now'>): OnJobs => {
  const most = Math.max(MIN_HELPERS, workersForQuota('listing', callsPerMinute(stage, now())) - 1)
  let called = 0
  return async (jobs) => {
    for (; called < Math.min(jobs, most); called++) {
      await queues.send('sync', { body: {}, delaySeconds: 0, group: 'sync' })
    }
  }
}

/**
 * Reconciles the provider's transactions with the books (design section 4, "Sync"), every five minutes and on demand.
 * It finds lost captures, replaces estimated fees, books the provider's payouts and records unexplained rows in
 * suspense. Runs share the due slices. After a crash another worker continues from the kept position; two workers on
 * one slice have the effect of one.
 */
export const syncProviderTransactions = async (deps: SliceDeps & Pick<Deps, 'queues'>): Promise<SyncSummary> => {
  const run = startSync(deps, callingHelpers(deps))
  const readTo = await readHeadRounds(run)
  await doDueJobs(run)
  return endSync(run, readTo)
}
