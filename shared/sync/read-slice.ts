import { mapInChunks } from '../chunks.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { paymentIdOf } from '../ids.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { endCreditedMoney, postPayments } from '../posting/post-payments.ts'
import {
  type ProviderOperation,
  type ProviderTransaction,
  positionAfter,
  type TransactionFilter,
  type TransactionPage,
  type Unanswered,
} from '../provider/provider.ts'
import type { callBudget } from '../provider/quota-store.ts'
import { recordFinding } from '../suspense/record-suspense.ts'
import { later, msBetween, type Timestamp } from '../time.ts'
import { readsOfPage } from '../webhook/delivery/announce.ts'
import { nextTryAt, noteOpenTransaction, renewJob, type Slice } from './job-store.ts'
import type { KeptPosition } from './kept-position.ts'
import {
  isCreditedWith,
  type Reconciled,
  type RowWithPayment as Row,
  recordRowFinding,
} from './provider-row.ts'
import { postingByRow } from './reconcile-own-row.ts'
import { type Lookups, reconcileTransaction } from './reconcile-transaction.ts'
import { addOpenTransaction, type OpenHours, registerOpenHours } from './tail.ts'

/**
 * `read`: to the slice's end. `overtaken`: another worker has the slice. Else: why it was released;
 * its position is kept. `refused`: this slice alone, also by a page without a position.
 */
export type SliceEnd =
  | 'read'
  | 'overtaken'
  | 'provider_silent'
  | 'misconfigured'
  | 'refused'
  | 'rate_limited'
  | 'out_of_time'

const MAX_PAGES = 10_000
const LIST_OPERATION: ProviderOperation = 'listTransactions'

export type SyncRun = {
  readonly deps: NewsDeps & Pick<Deps, 'monotonicMs' | 'sleep' | 'memory'>
  readonly budget: ReturnType<typeof callBudget>
  /**
   * Counts of rows, as logged. `passed_over`: rows that concern no payment, or that are not final.
   */
  readonly tally: { transactions: number; unanswered: number; passed_over: number; failed: number }
  readonly deadlineMs: number
  /** Hours whose next reading this run has scheduled, with their `settlesBy`. */
  readonly scheduledHours: Map<string, Timestamp>
  readonly onPage: () => Promise<void>
  /** True after the provider left a call unanswered. A later run makes the other calls. */
  silent: boolean
  /** Claims that this run has already tried, as job id and due time. */
  readonly triedClaims: Set<string>
  end: SliceEnd
  lagMs: number
}

/**
 * Reads a claimed slice page by page, reconciles each page and keeps its position (design section
 * 4, "Sync"). After a refused cursor the span is read from its beginning, once in a run. At the end
 * the slice is done or released. After a crash the slice is due again when its lease has expired.
 */
export async function readSlice(
  run: SyncRun,
  claimed: Slice,
  kept: KeptPosition,
): Promise<SliceEnd> {
  let slice = claimed
  let hasRestarted = false
  let positions = new Set([slice.afterId])
  const release = async (end: SliceEnd, at = run.deps.now()) => {
    const tries = (slice.tries ?? 0) + 1
    if (end === 'refused') await kept.release({ ...slice, tries }, nextTryAt(run.deps, tries))
    else await kept.release(slice, at)
    return end
  }
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    if (run.deps.monotonicMs() >= run.deadlineMs) return release('out_of_time')
    const retryAt = await waitForQuota(run)
    if (retryAt !== undefined) return release('rate_limited', retryAt)
    const answer = await run.deps.provider.listTransactions(filterOf(slice))
    if (answer.kind === 'found') {
      // The provider announces more rows but gives no new position to continue from.
      const position = positionAfter(answer.value) ?? slice.afterId
      if (answer.value.hasMore && positions.has(position)) return release('refused')
      positions.add(position)
      const next = await readPage(run, slice, answer.value, kept)
      if (next === 'overtaken') return next
      await run.onPage()
      if (next === 'read') return next
      slice = next
      continue
    }
    const { reason } = answer
    if (reason === 'rate_limited') {
      await run.budget.noteRefusal([LIST_OPERATION])
      continue
    }
    if (reason !== 'refused' || slice.afterId === undefined || hasRestarted)
      return release(endOf(reason))
    hasRestarted = true
    const fromStart = await kept.keep(slice, { afterId: undefined, openUntil: undefined })
    if (fromStart === undefined) return 'overtaken'
    slice = fromStart
    positions = new Set([undefined])
  }
  return release('out_of_time')
}

function endOf(reason: Unanswered['reason']): SliceEnd {
  return reason === 'refused' || reason === 'misconfigured' ? reason : 'provider_silent'
}

/** Answers the retry time if the wait would pass the deadline. */
async function waitForQuota({ deps, budget, deadlineMs }: SyncRun): Promise<Timestamp | undefined> {
  for (;;) {
    const retryAt = await budget.take(LIST_OPERATION)
    if (retryAt === undefined) return undefined
    const waitMs = Math.max(1, msBetween(deps.now(), retryAt))
    if (deps.monotonicMs() + waitMs >= deadlineMs) return retryAt
    await deps.sleep(waitMs)
  }
}

function filterOf({ kind, from, to, category, afterId }: Slice): TransactionFilter {
  const page = { rows: 'all', limit: 50, ...(afterId !== undefined && { afterId }) } as const
  const ofSpan = { ...page, createdFrom: from, createdTo: to }
  switch (kind) {
    case 'head':
      return { ...page, updatedFrom: from, updatedTo: to }
    case 'tail':
      return { ...ofSpan, ...(category !== undefined && { category }) }
    case 'reversals':
      return { ...ofSpan, rows: 'reversed' }
    case 'others':
      return { ...ofSpan, rows: 'others' }
    case 'day':
      return ofSpan
  }
}

/** Answers what is left of the slice, or how its reading ended. */
async function readPage(
  run: SyncRun,
  slice: Slice,
  page: TransactionPage,
  kept: KeptPosition,
): Promise<Slice | 'read' | 'overtaken'> {
  const hours = await reconcilePage(run, page, slice.kind)
  const isTail = slice.kind === 'tail'
  const times = isTail ? [...hours.values()].map(({ settlesBy }) => settlesBy) : []
  const openUntil = times.reduce((latest, time) => later(latest ?? time, time), slice.openUntil)
  if (!isTail) await registerOpenHours(run.deps, hours, run.scheduledHours)
  if (!page.hasMore) return (await kept.finish({ ...slice, openUntil })) ? 'read' : 'overtaken'
  return (await kept.keep(slice, { afterId: positionAfter(page), openUntil })) ?? 'overtaken'
}

/**
 * Reconciles a page of transactions with the books. A row that cannot be decided now becomes an
 * open job, so the page is complete on return. Answers the hours whose transactions are not final
 * yet. Safe to repeat.
 */
async function reconcilePage(
  run: SyncRun,
  page: TransactionPage,
  kind: Slice['kind'],
): Promise<OpenHours> {
  const { tally } = run
  const deps = { ...run.deps, endpointsOf: readsOfPage(run.deps) }
  for (const subject of page.unreadableIds ?? []) {
    await recordFinding(deps, { subject, cause: 'transaction_unexplained', payment: undefined })
  }
  const rows = await postSettledRows(deps, await rowsWithPayments(deps, page.transactions))
  const hours: OpenHours = new Map()
  const reconcile = async (row: Row) => {
    const { transaction } = row
    const decide = async () => {
      // First, so that the decision undoes what a worker has booked of an older form.
      if (mayHaveOlderForm(row)) await renewJob(deps, transaction)
      return reconcileTransaction(deps, row, lookupsOf(run))
    }
    // A failing row does not stop other rows. The sync checks it again alone.
    const reconciled = await decide().catch((cause: unknown): Reconciled => {
      deps.log.error('sync.row_failed', { transaction_id: transaction.transactionId }, cause)
      tally.failed++
      return 'open'
    })
    tally.transactions++
    if (reconciled === 'passed_over') tally.passed_over++
    if (transaction.hasUnknownMember) await recordRowFinding(deps, transaction, row.payment)
    if (typeof reconciled === 'object') {
      addOpenTransaction(hours, transaction, deps.now(), reconciled.booked)
      // Only the second net found it.
      if (kind === 'day' && reconciled.booked && !isCreditedWith(row.payment, transaction))
        deps.log.warn('sync.row_late', {
          transaction_id: transaction.transactionId,
          lag_ms: msBetween(transaction.createdAt, deps.now()),
        })
    }
    if (reconciled !== 'open' && reconciled !== 'unasked') return
    tally.unanswered++
    await noteOpenTransaction(deps, transaction, nextTryAt(deps, 0))
  }
  const isPayment = ({ transaction: { type } }: Row) => type === 'payment'
  // Money is decided before the rows that take it back.
  for (const group of [rows.filter(isPayment), rows.filter((row) => !isPayment(row))]) {
    // Rows are independent. Conditions decide if two rows concern one item.
    await mapInChunks(group, 8, reconcile)
  }
  return hours
}

/**
 * Whether a job may have a form of the row that moves something. Most rows are the own row of a
 * credited payment, or pending: for them no read is spent.
 */
function mayHaveOlderForm({ transaction, payment }: Row): boolean {
  const { type, status } = transaction
  const isOwn = type === 'payment' && status === 'success' && isCreditedWith(payment, transaction)
  return status !== 'pending' && !isOwn
}

/** Posts together by shard. Answers all rows, with the posted payments. */
async function postSettledRows(deps: NewsDeps, rows: readonly Row[]): Promise<readonly Row[]> {
  try {
    const postings = rows.flatMap((row) => postingByRow(deps, row) ?? [])
    const payments = postings.map(({ payment }) => payment)
    await endCreditedMoney(deps, payments)
    const posted = await postPayments(deps, postings)
    const postedById = new Map(posted.map((payment) => [payment?.paymentId, payment]))
    return rows.map(({ transaction, payment }) => ({
      transaction,
      payment: postedById.get(payment?.paymentId) ?? payment,
    }))
  } catch (cause) {
    // The failure of one payment must not block the page. Each row is then posted alone.
    deps.log.error('sync.row_failed', {}, cause)
    return rows
  }
}

/** Every later write has a condition, so a stale read is harmless. */
async function rowsWithPayments(
  deps: TableDeps,
  transactions: readonly ProviderTransaction[],
): Promise<readonly Row[]> {
  const ids = new Set(transactions.flatMap(({ reference }) => paymentIdOf(reference) ?? []))
  const payments = await findPaymentsByKey(deps, [...ids], 'eventual')
  const paymentsById = new Map(payments.map((payment) => [payment.paymentId, payment]))
  return transactions.map((transaction) => {
    const paymentId = paymentIdOf(transaction.reference)
    return { transaction, payment: paymentId && paymentsById.get(paymentId) }
  })
}

const LOOKUP_OPERATIONS: readonly ProviderOperation[] = ['getPayment', 'getRequest']

export function lookupsOf(run: SyncRun): Lookups {
  return {
    isAllowed: async () => {
      if (run.silent || run.deps.monotonicMs() >= run.deadlineMs) return false
      return (await run.budget.take(...LOOKUP_OPERATIONS)) === undefined
    },
    noteUnanswered: async (reason) => {
      if (reason === 'rate_limited') await run.budget.noteRefusal(LOOKUP_OPERATIONS)
      // A refusal is about one request. The provider answers other requests.
      else if (reason !== 'refused') run.silent = true
    },
  }
}
