import type { Deps } from '../deps.ts'
import { callsPerMinute } from '../provider/provider-quota.ts'
import { workersForQuota } from '../provider/workers-for-quota.ts'
import type { SliceDeps } from './read-slice.ts'
import { doDueJobs, endSync, type OnJobs, readHeadRounds, type SyncSummary, startSync } from './sync-run.ts'

const LEAST_HELPERS = 9

/** Others can take their share at once, instead of at the next tick; one that finds nothing left costs one query. */
const callingHelpers = ({ queues, stage, now }: Pick<Deps, 'queues' | 'stage' | 'now'>): OnJobs => {
  const most = Math.max(LEAST_HELPERS, workersForQuota('listing', callsPerMinute(stage, now())) - 1)
  let called = 0
  return async (jobs) => {
    for (; called < Math.min(jobs, most); called++) {
      await queues.send('sync', { body: {}, delaySeconds: 0, group: 'sync' })
    }
  }
}

/**
 * Every five minutes, and on demand: holds the provider's transactions against our books (design section 4, "Sync").
 * Lost captures are found, estimated fees become actual, the provider's payouts to us are noted, and what cannot be
 * explained becomes a suspense item. A run plans what was updated since the last one, and works on whatever is due; any
 * number of runs share it, slice by slice. Every position is kept with its page, on its old value: one that dies is taken
 * over, and two at once do the same work twice to no effect.
 */
export const syncProviderTransactions = async (deps: SliceDeps & Pick<Deps, 'queues'>): Promise<SyncSummary> => {
  const run = startSync(deps, callingHelpers(deps))
  const readTo = await readHeadRounds(run)
  await doDueJobs(run)
  return endSync(run, readTo)
}
