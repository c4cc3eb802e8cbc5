import { type HistoryResult, operationsOf, runHistory } from '../histories/history.ts'
import type { Releases } from './start-two-releases.ts'
import { timeline } from './timeline.ts'

type Options = {
  readonly seed: number
  readonly operations?: number | undefined
  readonly tracing?: boolean | undefined
  readonly releases: Releases
}

/**
 * One history in which the release before and this one run on one table and one set of queues. At its end this one runs
 * alone, and everything that histories check is checked, but for what `world/restrictions.ts` and `watch-former.ts` name.
 */
export const runTwoReleases = ({
  seed,
  operations = operationsOf(seed),
  tracing = false,
  releases,
}: Options): Promise<HistoryResult> => {
  const beside = timeline(seed, releases)
  return runHistory({ seed, operations, tracing, functions: releases.former, beside })
}
