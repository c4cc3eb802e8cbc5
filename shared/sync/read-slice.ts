import { mapInChunks } from '../chunks.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { paymentIdOf } from '../ids.ts'
import { readsOfPage } from '../payment/announcement.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { postPayments } from '../posting/post-payments.ts'
import {
  isOurMistake,
  type ProviderOperation,
  type ProviderTransaction,
  type TransactionFilter,
  type TransactionPage,
} from '../provider/provider.ts'
import type { callBudget } from '../provider/quota-store.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import { addMs, later, MINUTE_MS, msBetween, type Timestamp } from '../time.ts'
import { noteDensity } from './head-store.ts'
import { finishJob, keepPosition, noteOpen, releaseJob, type Slice } from './job-store.ts'
import { postingBy, type KnownRow as Row } from './reconcile-own-row.ts'
import { type Lookups, type Reconciled, reconcileTransaction } from './reconcile-transaction.ts'
import { addOpen, endReading, type OpenHours, registerOpen } from './tail.ts'

/** `read`: to its end. `overtaken`: another worker has it. Otherwise why it was released; its position is kept. */
export type SliceEnd =
  | 'read'
  | 'overtaken'
  | 'provider_silent'
  | 'refused'
  | 'rate_limited'
  | 'out_of_time'

const MAX_PAGES = 10_000
/** From this many rows a minute on, density decides the length of slices. */
const WORTH_CUTTING = 200
const LIST: ProviderOperation = 'listTransactions'

export type SyncRun = {
  readonly deps: NewsDeps & Pick<Deps, 'monotonicMs' | 'sleep' | 'memory'>
  readonly budget: ReturnType<typeof callBudget>
  /** Counts, as logged. `passed_over`: rows that concern no payment, or are not decided yet. */
  readonly tally: { transactions: number; unanswered: number; passed_over: number; failed: number }
  readonly deadlineMs: number
  /** Hours whose next reading this run has scheduled, with their `settlesBy`. */
  readonly scheduledHours: Map<string, Timestamp>
  readonly onPage: () => Promise<void>
  /** True after the provider left one call unanswered; a later run makes the other calls. */
  silent: boolean
  /** Claims that this run has already tried, as job id and due time. */
  readonly tried: Set<string>
  jobsLeft: number
  end: SliceEnd
  lagMs: number
}

/**
 * Reads a claimed slice page by page, reconciles each page and keeps its position (design section 4, "Sync").
 * After a refused cursor the span is read from its beginning, once in a run. At the end the slice is done or released;
 * after a crash it is due again when its lease has expired.
 */
export async function readSlice(run: SyncRun, claimed: Slice): Promise<SliceEnd> {
  let slice = claimed
  let restarted = false
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    if (run.deps.monotonicMs() >= run.deadlineMs) return release(run, slice, 'out_of_time')
    const retryAt = await waitForQuota(run)
    if (retryAt !== undefined) return release(run, slice, 'rate_limited', retryAt)
    const answer = await run.deps.provider.listTransactions(filterOf(slice))
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
    const mayBeCursor =
      answer.kind === 'unanswered' && answer.reason === 'refused' && slice.afterId !== undefined
    const isRefused = answer.kind === 'not_found' || isOurMistake(answer)
    if (!mayBeCursor || restarted)
      return release(run, slice, isRefused ? 'refused' : 'provider_silent')
    restarted = true
    const fromStart = await keepPosition(run.deps, slice, {
      afterId: undefined,
      rows: 0,
      openUntil: undefined,
    })
    if (fromStart === undefined) return 'overtaken'
    slice = fromStart
  }
  return release(run, slice, 'out_of_time')
}

async function release(
  run: SyncRun,
  slice: Slice,
  why: SliceEnd,
  at = run.deps.now(),
): Promise<SliceEnd> {
  await releaseJob(run.deps, slice, at)
  return why
}

/** Waits for a list call of the quota. Answers the retry time when the wait would pass the deadline. */
async function waitForQuota({ deps, budget, deadlineMs }: SyncRun): Promise<Timestamp | undefined> {
  for (;;) {
    const retryAt = await budget.take(LIST)
    if (retryAt === undefined) return undefined
    const waitMs = Math.max(1, msBetween(deps.now(), retryAt))
    if (deps.monotonicMs() + waitMs >= deadlineMs) return retryAt
    await deps.sleep(waitMs)
  }
}

function filterOf({ kind, from, to, category, afterId }: Slice): TransactionFilter {
  const page = { allTypes: true, limit: 50, ...(afterId !== undefined && { afterId }) }
  switch (kind) {
    case 'head':
      return { ...page, updatedFrom: from, updatedTo: to }
    case 'tail':
      return {
        ...page,
        createdFrom: from,
        createdTo: to,
        ...(category !== undefined && { category }),
      }
    case 'reversals':
      return { ...page, createdFrom: from, createdTo: to, reversedOnly: true }
  }
}

/** The position after a page; undefined when it has no rows. */
function positionAfter({ afterId, transactions }: TransactionPage): string | undefined {
  return afterId ?? transactions.at(-1)?.transactionId
}

/** Reconciles one page and keeps the position. Answers the new slice; undefined when another worker has it. */
async function readPage(
  run: SyncRun,
  slice: Slice,
  page: TransactionPage,
): Promise<Slice | undefined> {
  const hours: OpenHours = await reconcilePage(run, page)
  const isTail = slice.kind === 'tail'
  const expected = isTail ? [...hours.values()].map(({ settlesBy }) => settlesBy) : []
  const openUntil = expected.reduce((latest, by) => later(latest ?? by, by), slice.openUntil)
  if (!isTail) await registerOpen(run.deps, hours, run.scheduledHours)
  const rows = slice.rows + page.transactions.length
  const read = { ...slice, rows, openUntil }
  if (page.hasMore)
    return keepPosition(run.deps, slice, { afterId: positionAfter(page), rows, openUntil })
  if (slice.kind === 'head') await learnDensity(run, read)
  await (isTail ? endReading(run.deps, read) : finishJob(run.deps, read))
  return { ...read, afterId: undefined }
}

export const ASK_AGAIN_MS = 2 * MINUTE_MS

/**
 * Reconciles a page of transactions with the books. A row that cannot be decided now becomes an open job, so the page is
 * complete on return. Answers the hours whose transactions are not final yet. Safe to repeat.
 */
async function reconcilePage(run: SyncRun, page: TransactionPage): Promise<OpenHours> {
  const { tally } = run
  const deps = { ...run.deps, endpointsOf: readsOfPage(run.deps) }
  for (const subject of page.unreadableIds ?? []) {
    const item = finding({
      subject,
      cause: 'transaction_unexplained',
      payment: undefined,
      now: deps.now(),
    })
    await recordSuspense(deps, item)
  }
  const rows = await withPosted(deps, await knownRows(deps, page.transactions))
  const hours: OpenHours = new Map()
  const reconcile = async (row: Row) => {
    const { transaction } = row
    const answer = reconcileTransaction(deps, row, lookupsOf(run))
    // The failure of one row is isolated: the row is checked again alone.
    const reconciled = await answer.catch((cause: unknown): Reconciled => {
      deps.log.error('sync.row_failed', { transaction_id: transaction.transactionId }, cause)
      tally.failed++
      return 'open'
    })
    tally.transactions++
    if (reconciled === 'passed_over') tally.passed_over++
    if (typeof reconciled === 'object') addOpen(hours, transaction, deps.now(), reconciled.booked)
    if (reconciled !== 'open') return
    tally.unanswered++
    await noteOpen(deps, transaction, addMs(deps.now(), ASK_AGAIN_MS))
  }
  const isPayment = ({ transaction: { type } }: Row) => type === 'payment'
  // Money is decided before the rows that take it back.
  for (const some of [rows.filter(isPayment), rows.filter((row) => !isPayment(row))]) {
    // Rows are independent; conditions decide when two concern one item.
    await mapInChunks(some, 8, reconcile)
  }
  return hours
}

/** Posts the payments whose rows have settled, together by shard, and answers the rows with the posted payments. */
async function withPosted(deps: NewsDeps, rows: readonly Row[]): Promise<readonly Row[]> {
  try {
    const settled = rows.flatMap((row) => postingBy(deps, row) ?? [])
    const posted = await postPayments(deps, settled)
    const final = new Map(posted.map((payment) => [payment?.paymentId, payment]))
    return rows.map(({ transaction, known }) => ({
      transaction,
      known: final.get(known?.paymentId) ?? known,
    }))
  } catch (cause) {
    // One payment's failure must not block the page: each row is then tried alone.
    deps.log.error('sync.row_failed', {}, cause)
    return rows
  }
}

/** The rows of a page with their payments. Every later write has a condition, so a stale read is harmless. */
async function knownRows(
  deps: TableDeps,
  transactions: readonly ProviderTransaction[],
): Promise<readonly Row[]> {
  const ids = new Set(transactions.flatMap(({ reference }) => paymentIdOf(reference) ?? []))
  const payments = await findPaymentsByKey(deps, [...ids], 'eventual')
  const known = new Map(payments.map((payment) => [payment.paymentId, payment]))
  return transactions.map((transaction) => {
    const paymentId = paymentIdOf(transaction.reference)
    return { transaction, known: paymentId && known.get(paymentId) }
  })
}

/** The provider calls that one unbooked transaction may need. */
const QUESTIONS: readonly ProviderOperation[] = ['getPayment', 'getRequest']

export function lookupsOf(run: SyncRun): Lookups {
  return {
    isAllowed: async () => {
      if (run.silent || run.deps.monotonicMs() >= run.deadlineMs) return false
      for (const operation of QUESTIONS)
        if ((await run.budget.take(operation)) !== undefined) return false
      return true
    },
    noteUnanswered: async (reason) => {
      if (reason === 'rate_limited') await run.budget.refused(QUESTIONS)
      // A refusal is about one request, and the provider answers others.
      else if (reason !== 'refused') run.silent = true
    },
  }
}

async function learnDensity({ deps }: SyncRun, { from, to, rows, cutFor }: Slice): Promise<void> {
  const measured = Math.round((rows * MINUTE_MS) / Math.max(MINUTE_MS, msBetween(from, to)))
  const isFar = measured > 1.5 * cutFor || 2 * measured < cutFor
  if (isFar && Math.max(measured, cutFor) >= WORTH_CUTTING) await noteDensity(deps, measured)
}
