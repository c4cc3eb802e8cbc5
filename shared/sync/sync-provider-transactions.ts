import type { Deps } from '../deps.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../provider/provider.ts'
import { addMs, DAY_MS, earlier, HOUR_MS, later, type Timestamp } from '../time.ts'
import { reconcileTransaction } from './reconcile-transaction.ts'
import { moveSyncCursor, readSyncCursor } from './sync-cursor.ts'

type SyncDeps = Pick<
  Deps,
  'table' | 'sleep' | 'random' | 'provider' | 'now' | 'newId' | 'log' | 'alerts' | 'monotonicMs'
>

/** Read again at every run: transactions appear late and change after they appeared. */
const OVERLAP_MS = DAY_MS
/** How far the very first run looks back. */
const FIRST_LOOK_BACK_MS = 7 * DAY_MS
/** The cursor moves span by span, so a long backlog makes progress however often a run is cut short. */
const SPAN_MS = 6 * HOUR_MS
const PAGE = 50
const MAX_PAGES_A_SPAN = 10_000
/** Under the function's time limit. */
const RUN_BUDGET_MS = 600_000

export type SyncSummary = {
  readonly transactions: number
  readonly unanswered: number
  readonly until: Timestamp | null
  /** False when the run stopped before now; the next one goes on from `until`. */
  readonly complete: boolean
}

type Span = { readonly from: Timestamp; readonly to: Timestamp }
type Tally = { transactions: number; unanswered: number }

/** Reads one span to its end. False when it must be read again: the provider stopped answering, or time is up. */
const syncSpan = async (deps: SyncDeps, span: Span, tally: Tally, end: number): Promise<boolean> => {
  let afterId: string | undefined
  const unansweredBefore = tally.unanswered
  for (let page = 0; page < MAX_PAGES_A_SPAN; page++) {
    const filter = {
      updatedFrom: span.from,
      updatedTo: span.to,
      limit: PAGE,
      ...(afterId !== undefined && { afterId }),
    }
    const answer = await deps.provider.listTransactions(filter, PROVIDER_READ_TIMEOUT_MS)
    if (answer.kind !== 'found') return false
    for (const transaction of answer.value.transactions) {
      if (deps.monotonicMs() >= end) return false
      const reconciled = await reconcileTransaction(deps, transaction)
      if (reconciled === 'rate_limited') return false
      if (reconciled === 'unanswered') tally.unanswered++
      tally.transactions++
    }
    afterId = answer.value.transactions.at(-1)?.transactionId
    if (!answer.value.hasMore || afterId === undefined) return tally.unanswered === unansweredBefore
  }
  return false
}

/**
 * Hourly, and on demand: holds the provider's transactions against our books (design section 4, "Sync"). Estimated
 * fees become actual, the provider's payouts to us are noted, lost captures are found, and what cannot be explained
 * becomes a suspense item. The cursor moves only behind what was read to its end, on its old value: a run that dies is
 * simply repeated, and two runs at once do the same work twice to no effect.
 */
export const syncProviderTransactions = async (deps: SyncDeps): Promise<SyncSummary> => {
  const end = deps.monotonicMs() + RUN_BUDGET_MS
  const now = deps.now()
  const tally: Tally = { transactions: 0, unanswered: 0 }
  let cursor = await readSyncCursor(deps)
  let from = cursor === undefined ? addMs(now, -FIRST_LOOK_BACK_MS) : addMs(cursor, -OVERLAP_MS)
  let complete = true
  while (complete && from < now) {
    const to = earlier(addMs(from, SPAN_MS), now)
    complete = await syncSpan(deps, { from, to }, tally, end)
    if (!complete) break
    const until = cursor === undefined ? to : later(cursor, to)
    const moved = await moveSyncCursor(deps, cursor, until)
    if (!moved.applied) break
    cursor = until
    from = to
  }
  deps.log.info('sync.completed', { ...tally, complete, until: cursor })
  return { ...tally, until: cursor ?? null, complete }
}
