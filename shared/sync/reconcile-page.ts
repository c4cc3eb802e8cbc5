import { mapInChunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import type { NewsDeps } from '../payment/news/news-deps.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { paymentIdOf } from '../payment/provider-attempts.ts'
import type { CallBudget } from '../provider/call-budget.ts'
import type { ProviderOperation, ProviderTransaction, TransactionPage } from '../provider/provider.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../time.ts'
import { noteOpen } from './job-store.ts'
import { postPage, type KnownRow as Row } from './reconcile-own-row.ts'
import { type AskAbout, type Reconciled, reconcileTransaction } from './reconcile-transaction.ts'
import { addOpen, type OpenHours } from './tail.ts'

/** What a run has seen so far. `passedOver`: seen, and no business of any payment. */
export type Tally = { transactions: number; unanswered: number; passedOver: number; failed: number }

export type ReconcileRun = {
  readonly deps: NewsDeps & Pick<Deps, 'monotonicMs'>
  readonly budget: CallBudget
  readonly tally: Tally
  readonly deadlineMs: number
  /** True once the provider left a question of this run without an answer: the others wait for a later run. */
  silent: boolean
}

/** Side by side within a page; each row is its own, and conditions decide where two are not. */
const CONCURRENCY = 8
/** When a transaction that nobody could be asked about is looked at again. */
export const ASK_AGAIN_MS = 2 * MINUTE_MS
/** Our own trouble with a row, such as a table that does not answer, is a person's business after this long. */
const GIVE_UP_MS = 2 * DAY_MS

/** What a transaction that is not booked yet has the provider asked. */
const QUESTIONS: readonly ProviderOperation[] = ['getPayment', 'getRequest']

/** Whether the provider may be asked about one more transaction now: within quota and time, and if it answers at all. */
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
 * The payments that a page names, in one read: most of its transactions are known and need nothing more. As they were a
 * moment ago: every write has its condition, and one that is refused reads again.
 */
const knownRows = async (
  deps: Pick<Deps, 'table'>,
  transactions: readonly ProviderTransaction[],
): Promise<readonly Row[]> => {
  const ids = new Set(transactions.flatMap(({ reference }) => paymentIdOf(reference) ?? []))
  const payments = await findPaymentsByKey(deps, [...ids], 'eventual')
  const known = new Map(payments.map((payment) => [payment.paymentId, payment]))
  return transactions.map((transaction) => {
    const paymentId = paymentIdOf(transaction.reference)
    return { transaction, known: paymentId && known.get(paymentId) }
  })
}

/** With the payments whose rows have settled posted, most of them together. */
const withPosted = async ({ deps }: ReconcileRun, rows: readonly Row[]): Promise<readonly Row[]> => {
  try {
    const final = new Map((await postPage(deps, rows)).map((payment) => [payment.paymentId, payment]))
    return rows.map(({ transaction, known }) => ({
      transaction,
      known: known && (final.get(known.paymentId) ?? known),
    }))
  } catch (cause) {
    // One payment's trouble must not hold up the page: each is tried by itself.
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

/** One row's trouble costs the others nothing: it is looked at again by itself, and is nobody's secret. */
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
 * Holds a page of transactions against the books. Whoever cannot be looked at now is noted to be looked at by itself, so
 * the page is done when this returns. Answers the hours whose transactions are not final yet. Safe to repeat.
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
