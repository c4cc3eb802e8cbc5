import type { Deps } from '../deps.ts'
import { assertNever } from '../errors.ts'
import {
  isOurMistake,
  PROVIDER_READ_TIMEOUT_MS,
  type ProviderOperation,
  type TransactionFilter,
  type TransactionPage,
  type Unanswered,
} from '../provider/provider.ts'
import { MINUTE_MS, msBetween, type Timestamp } from '../time.ts'
import { finishJob, keepPosition, noteDensity, releaseJob } from './job-store.ts'
import { type ReconcileRun, reconcilePage } from './reconcile-page.ts'
import type { Slice } from './sync-job.ts'
import { endReading, latestOf, type OpenHours, registerOpen } from './tail.ts'

export type SliceDeps = ReconcileRun['deps'] & Pick<Deps, 'sleep' | 'monotonicMs' | 'memory'>

/** `read`: to its end. `overtaken`: another worker has it. Otherwise why it was released; its position is kept. */
export type SliceEnd = 'read' | 'overtaken' | 'provider_silent' | 'refused' | 'rate_limited' | 'out_of_time'

/** One worker's run over several slices. */
export type SliceRun = ReconcileRun & {
  readonly deps: SliceDeps
  /** Hours whose next reading this run has scheduled, with their `settlesBy`. */
  readonly scheduledHours: Map<string, Timestamp>
  /** Called after every page. */
  readonly onPage: () => Promise<void>
}

const PAGE = 50
const MAX_PAGES = 10_000
/** From this many rows a minute on, density decides the length of slices. */
const WORTH_CUTTING = 200
const LIST: ProviderOperation = 'listTransactions'

const filterOf = ({ kind, from, to, category, afterId }: Slice): TransactionFilter => {
  const page = { allTypes: true, limit: PAGE, ...(afterId !== undefined && { afterId }) }
  switch (kind) {
    case 'head':
      return { ...page, updatedFrom: from, updatedTo: to }
    case 'tail':
      return { ...page, createdFrom: from, createdTo: to, ...(category !== undefined && { category }) }
    case 'reversals':
      return { ...page, createdFrom: from, createdTo: to, reversedOnly: true }
    default:
      return assertNever(kind)
  }
}

/** Waits for a list call of the quota. Answers the retry time when the wait would pass the deadline. */
const waitForQuota = async ({ deps, budget, deadlineMs }: SliceRun): Promise<Timestamp | undefined> => {
  for (;;) {
    const retryAt = await budget.take(LIST)
    if (retryAt === undefined) return undefined
    const waitMs = Math.max(1, msBetween(deps.now(), retryAt))
    if (deps.monotonicMs() + waitMs >= deadlineMs) return retryAt
    await deps.sleep(waitMs)
  }
}

const endBy = (answer: Unanswered | { readonly kind: 'not_found' }): 'refused' | 'provider_silent' =>
  answer.kind === 'not_found' || isOurMistake(answer) ? 'refused' : 'provider_silent'

/** Records the slice's density if it differs much from the assumed one. */
const learnDensity = async ({ deps }: SliceRun, { kind, from, to, rows, cutFor }: Slice): Promise<void> => {
  const measured = Math.round((rows * MINUTE_MS) / Math.max(MINUTE_MS, msBetween(from, to)))
  const isFar = measured > 1.5 * cutFor || 2 * measured < cutFor
  if (kind !== 'head' || !isFar || Math.max(measured, cutFor) < WORTH_CUTTING) return
  await noteDensity(deps, measured)
}

const end = async (run: SliceRun, slice: Slice): Promise<void> => {
  if (slice.kind === 'tail') return endReading(run.deps, slice)
  await learnDensity(run, slice)
  await finishJob(run.deps, slice)
}

/** The position after a page; undefined when it has no rows. */
const positionAfter = ({ afterId, transactions }: TransactionPage): string | undefined =>
  afterId ?? transactions.at(-1)?.transactionId

/** Reconciles one page and keeps the position. Answers the new slice; undefined when another worker has it. */
const readPage = async (run: SliceRun, slice: Slice, page: TransactionPage): Promise<Slice | undefined> => {
  const hours: OpenHours = await reconcilePage(run, page)
  if (slice.kind !== 'tail') await registerOpen(run.deps, hours, run.scheduledHours)
  const openUntil = slice.kind === 'tail' ? latestOf(hours, slice.openUntil) : undefined
  const rows = slice.rows + page.transactions.length
  const read = { ...slice, rows, openUntil }
  if (page.hasMore) return keepPosition(run.deps, slice, { afterId: positionAfter(page), rows, openUntil })
  await end(run, read)
  return { ...read, afterId: undefined }
}

const release = async <End extends SliceEnd>(run: SliceRun, slice: Slice, why: End, at?: Timestamp): Promise<End> => {
  await releaseJob(run.deps, slice, at ?? run.deps.now())
  return why
}

/**
 * Reads a claimed slice page by page, reconciles each page and keeps its position (design section 4, "Sync").
 * After a refused cursor the span is read from its beginning, once in a run. At the end the slice is done or released;
 * after a crash it is due again when its lease has expired.
 */
export const readSlice = async (run: SliceRun, claimed: Slice): Promise<SliceEnd> => {
  let slice = claimed
  let restarted = false
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    if (run.deps.monotonicMs() >= run.deadlineMs) return release(run, slice, 'out_of_time')
    const retryAt = await waitForQuota(run)
    if (retryAt !== undefined) return release(run, slice, 'rate_limited', retryAt)
    const answer = await run.deps.provider.listTransactions(filterOf(slice), PROVIDER_READ_TIMEOUT_MS)
    if (answer.kind === 'found') {
      // The provider announces more rows but gives no position to continue from.
      if (answer.value.hasMore && positionAfter(answer.value) === undefined) {
        return release(run, slice, 'provider_silent')
      }
      const read = await readPage(run, slice, answer.value)
      if (read === undefined) return 'overtaken'
      await run.onPage()
      if (read.afterId === undefined) return 'read'
      slice = read
      continue
    }
    if (answer.kind === 'unanswered' && answer.reason === 'rate_limited') {
      await run.budget.refused([LIST])
      continue
    }
    const mayBeCursor = answer.kind === 'unanswered' && answer.reason === 'refused' && slice.afterId !== undefined
    if (!mayBeCursor || restarted) return release(run, slice, endBy(answer))
    restarted = true
    const fromStart = await keepPosition(run.deps, slice, { afterId: undefined, rows: 0, openUntil: undefined })
    if (fromStart === undefined) return 'overtaken'
    slice = fromStart
  }
  return release(run, slice, 'out_of_time')
}
