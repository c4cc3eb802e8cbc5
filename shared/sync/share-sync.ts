import { isRoundPast } from './plan-round.ts'
import type { SliceDeps } from './read-slice.ts'
import { doDueJobs, endSync, readHeadRounds, startSync } from './sync-run.ts'

/**
 * Does the sync jobs that are due. `woken`: callbacks were deferred, so the worker also reads the rows updated after
 * the last round, unless that round is too recent.
 */
export const shareSync = async (deps: SliceDeps, { woken }: { readonly woken: boolean }): Promise<void> => {
  const run = startSync(deps)
  const readTo = woken && (await isRoundPast(deps)) ? await readHeadRounds(run) : undefined
  await doDueJobs(run)
  endSync(run, readTo)
}
