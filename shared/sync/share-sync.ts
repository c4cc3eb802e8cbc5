import { isRoundPast } from './plan-round.ts'
import type { SliceDeps } from './read-slice.ts'
import { doDueJobs, endSync, readHeadRounds, startSync } from './sync-run.ts'

/**
 * A worker's share of the sync: whatever is due, of every pass. `woken`: callbacks were put off, so what was updated
 * since the last round is read too, but no more often than rounds overlap.
 */
export const shareSync = async (deps: SliceDeps, { woken }: { readonly woken: boolean }): Promise<void> => {
  const run = startSync(deps)
  const readTo = woken && (await isRoundPast(deps)) ? await readHeadRounds(run) : undefined
  await doDueJobs(run)
  endSync(run, readTo)
}
