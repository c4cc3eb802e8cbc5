import { mapInChunks } from '../chunks.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { paymentIdOf } from '../ids.ts'
import type { NewsDeps } from '../payment/news/news-deps.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import type { CallBudget } from '../provider/call-budget.ts'
import type { ProviderOperation, ProviderTransaction, TransactionPage } from '../provider/provider.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../time.ts'
import { noteOpen } from './job-store.ts'
import { postPage, type KnownRow as Row } from './reconcile-own-row.ts'
import { type AskAbout, type Reconciled, reconcileTransaction } from './reconcile-transaction.ts'
import { addOpen, type OpenHours } from './tail.ts'

/** Counts of a run. `passedOver`: rows that concern no payment, or are not decided yet. */
export type Tally = { transactions: number; unanswered: number; passedOver: number; failed: number }

export type ReconcileRun = {
  readonly deps: NewsDeps & Pick<Deps, 'monotonicMs'>
  readonly budget: CallBudget
  readonly tally: Tally
  readonly deadlineMs: number
  /** True after the provider left one call unanswered; a later run makes the other calls. */
  silent: boolean
}

/** Rows of a page in parallel. Rows are independent; conditions decide when two concern one item. */
const CONCURRENCY = 8
/** The wait before an open transaction is checked again. */
export const ASK_AGAIN_MS = 2 * MINUTE_MS
/** After this long an internal failure of a row, such as a table timeout, fails the run. */
const GIVE_UP_MS = 2 * DAY_MS

/** The provider calls that one unbooked transaction may need. */
const QUESTIONS: readonly ProviderOperation[] = ['getPayment', 'getRequest']

/** Allows a provider call while quota and time are left and the provider answers. */
export const askAbout = (run: ReconcileRun): AskAbout => ({
  allowed: async () => {
    if (run.silent || run.deps.monotonicMs() >= run.deadlineMs) return false
    for (const operation of QUESTIONS) if ((await run.budget.take(operation)) !== undefined) return false
    return true
  },
  unanswered: async (reason) => {
    if (reason === 'rate_limited') await run.budget.refused(QUESTIONS)
    else run.silent = true
  },
})

/**
 * The rows of a page with their payments, in one batch read. The read is eventually consistent, because every write has
 * a condition and reads again when it is refused.
 */
const knownRows = async (deps: TableDeps, transactions: readonly ProviderTransaction[]): Promise<readonly Row[]> => {
  const ids = new Set(transactions.flatMap(({ reference }) => paymentIdOf(reference) ?? []))
  const payments = await findPaymentsByKey(deps, [...ids], 'eventual')
  const known = new Map(payments.map((payment) => [payment.paymentId, payment]))
  return transactions.map((transaction) => {
    const paymentId = paymentIdOf(transaction.reference)
    return { transaction, known: paymentId && known.get(paymentId) }
  })
}

/** Posts the payments whose rows have settled, and answers the rows with the posted payments. */
const withPosted = async ({ deps }: ReconcileRun, rows: readonly Row[]): Promise<readonly Row[]> => {
  try {
    const final = new Map((await postPage(deps, rows)).map((payment) => [payment.paymentId, payment]))
    return rows.map(({ transaction, known }) => ({
      transaction,
      known: known && (final.get(known.paymentId) ?? known),
    }))
  } catch (cause) {
    // One payment's failure must not block the page: each row is then tried alone.
    deps.log.error('sync.row_failed', {}, cause)
    return rows
  }
}

const noteUnreadable = async (deps: NewsDeps, { unreadableIds = [] }: TransactionPage): Promise<void> => {
  for (const subject of unreadableIds) {
    const item = finding({ subject, cause: 'transaction_unexplained', payment: undefined, now: deps.now() })
    await recordSuspense(deps, item)
  }
}

/** Isolates the failure of one row: it is logged and the row is checked again alone. */
const reconcileAlone = async (
  run: ReconcileRun,
  transaction: ProviderTransaction,
  known: Payment | undefined,
): Promise<Reconciled> => {
  try {
    return await reconcileTransaction(run.deps, transaction, known, askAbout(run))
  } catch (cause) {
    if (addMs(transaction.updatedAt, GIVE_UP_MS) < run.deps.now()) throw cause
    run.deps.log.error('sync.row_failed', { transaction_id: transaction.transactionId }, cause)
    run.tally.failed++
    return { kind: 'open' }
  }
}

/**
 * Reconciles a page of transactions with the books. A row that cannot be decided now is recorded as an open job, so the
 * page is complete on return. Answers the hours whose transactions are not final yet. Safe to repeat.
 */
export const reconcilePage = async (run: ReconcileRun, page: TransactionPage): Promise<OpenHours> => {
  const { deps, tally } = run
  await noteUnreadable(deps, page)
  const rows = await withPosted(run, await knownRows(deps, page.transactions))
  const hours: OpenHours = new Map()
  await mapInChunks(rows, CONCURRENCY, async ({ transaction, known }) => {
    const reconciled = await reconcileAlone(run, transaction, known)
    tally.transactions++
    if (reconciled.kind === 'passed_over') tally.passedOver++
    if (reconciled.kind === 'credited') addOpen(hours, transaction, reconciled.payment, deps.now())
    if (reconciled.kind !== 'open') return
    tally.unanswered++
    await noteOpen(deps, transaction, addMs(deps.now(), ASK_AGAIN_MS))
  })
  return hours
}
