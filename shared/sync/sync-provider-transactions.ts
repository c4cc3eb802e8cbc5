import type { Deps } from '../deps.ts'
import { addMs, DAY_MS, earlier, HOUR_MS, type Timestamp } from '../time.ts'
import { readSpan, type Span, type SpanEnd, type Tally } from './read-span.ts'
import { moveSyncCursor, readSyncCursor, type SyncCursor } from './sync-cursor.ts'

type SyncDeps = Pick<
  Deps,
  'stage' | 'table' | 'provider' | 'now' | 'newId' | 'log' | 'alerts' | 'monotonicMs' | 'sleep'
>

/** Read again in every round: transactions appear late and change after they appeared. */
const OVERLAP_MS = DAY_MS
/** How far the very first run looks back. */
const FIRST_LOOK_BACK_MS = 7 * DAY_MS
/** The cursor moves span by span, so a long backlog makes progress however often a run is cut short. */
const SPAN_MS = 6 * HOUR_MS
/** Under the function's time limit. */
const RUN_BUDGET_MS = 600_000

export type SyncSummary = {
  readonly transactions: number
  /** Those nobody could be asked about; the next round asks again. */
  readonly unanswered: number
  /** Up to when this run has read; null when it got nowhere. */
  readonly until: Timestamp | null
  /** False when the run stopped before now, or met another one; the next run goes on there. */
  readonly complete: boolean
}

const oldest = (a: Timestamp | undefined, b: Timestamp | undefined): Timestamp | undefined =>
  a !== undefined && b !== undefined ? earlier(a, b) : (a ?? b)

/** Where reading goes on behind a span: at its end, or, when that was now, with the overlap of the next round. */
const cursorBehind = (span: Span, now: Timestamp, openSince: Timestamp | undefined): SyncCursor =>
  span.to < now ? { position: span.to, openSince } : { position: earlier(addMs(now, -OVERLAP_MS), openSince ?? now) }

/**
 * Hourly, and on demand: holds the provider's transactions against our books (design section 4, "Sync"). Estimated
 * fees become actual, the provider's payouts to us are noted, lost captures are found, and what cannot be explained
 * becomes a suspense item. The cursor moves only behind what was read to its end, on its old value: a run that dies is
 * simply repeated, and two runs at once do the same work twice to no effect.
 */
export const syncProviderTransactions = async (deps: SyncDeps): Promise<SyncSummary> => {
  const deadlineMs = deps.monotonicMs() + RUN_BUDGET_MS
  const now = deps.now()
  const tally: Tally = { transactions: 0, unanswered: 0, passedOver: 0 }
  let cursor = await readSyncCursor(deps)
  let from = cursor?.position ?? addMs(now, -FIRST_LOOK_BACK_MS)
  let until: Timestamp | null = null
  let end: SpanEnd | 'overtaken' = 'read'
  while (end === 'read' && from < now) {
    const span = { from, to: earlier(addMs(from, SPAN_MS), now) }
    const read = await readSpan(deps, span, tally, deadlineMs)
    end = read.end
    if (read.end !== 'read') break
    const next = cursorBehind(span, now, oldest(cursor?.openSince, read.openSince))
    const moved = await moveSyncCursor(deps, cursor, next)
    if (!moved.applied) end = 'overtaken'
    until = span.to
    cursor = next
    from = span.to
  }
  const complete = end === 'read'
  deps.log[complete ? 'info' : 'warn']('sync.completed', {
    transactions: tally.transactions,
    unanswered: tally.unanswered,
    passed_over: tally.passedOver,
    incomplete: complete ? 0 : 1,
    end,
    until: until ?? undefined,
  })
  return { transactions: tally.transactions, unanswered: tally.unanswered, until, complete }
}
