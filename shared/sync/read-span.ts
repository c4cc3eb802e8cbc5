import type { Deps } from '../deps.ts'
import type { PaymentId } from '../ids.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { paymentIdOf } from '../payment/provider-attempts.ts'
import {
  isOurMistake,
  PROVIDER_READ_TIMEOUT_MS,
  type ProviderOperation,
  type ProviderTransaction,
  type TransactionPage,
  type Unanswered,
} from '../provider/provider.ts'
import { isPausing, waitForProvider } from '../provider/wait-for-provider.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import { earlier, type Timestamp } from '../time.ts'
import { type ReconcileDeps, type Reconciled, reconcileTransaction } from './reconcile-transaction.ts'

type SpanDeps = ReconcileDeps & Pick<Deps, 'monotonicMs' | 'sleep'>

/** A span of the provider's update times, both ends included. */
export type Span = { readonly from: Timestamp; readonly to: Timestamp }

/** What a run has seen so far. `passedOver`: seen, and no business of any payment. */
export type Tally = { transactions: number; unanswered: number; passedOver: number }

/** `read`: to its end. Otherwise why the run must stop; the span is read again by the next one. */
export type SpanEnd = 'read' | 'provider_silent' | 'refused' | 'rate_limited' | 'out_of_time'

type SpanRead = {
  readonly end: SpanEnd
  /** The oldest update of a transaction that could not be looked at although the span was read. */
  readonly openSince: Timestamp | undefined
}

const PAGE = 50
const LIST_CALL: readonly ProviderOperation[] = ['listTransactions']
const MAX_PAGES = 10_000

const endBy = (answer: Unanswered | { readonly kind: 'not_found' }): SpanEnd => {
  if (answer.kind === 'not_found' || isOurMistake(answer)) return 'refused'
  return answer.reason === 'rate_limited' ? 'rate_limited' : 'provider_silent'
}

/** The payments that a page names, in one read: most of its transactions are known and need nothing more. */
const paymentsOf = async (
  deps: SpanDeps,
  transactions: readonly ProviderTransaction[],
): Promise<ReadonlyMap<PaymentId, Payment>> => {
  const ids = new Set(transactions.flatMap(({ reference }) => paymentIdOf(reference) ?? []))
  const payments = await findPaymentsByKey(deps, [...ids])
  return new Map(payments.map((payment) => [payment.paymentId, payment]))
}

const noteUnreadable = async (deps: SpanDeps, { unreadableIds = [] }: TransactionPage): Promise<void> => {
  for (const subject of unreadableIds) {
    const item = finding({ subject, cause: 'transaction_unexplained', payment: undefined, now: deps.now() })
    await recordSuspense(deps, item)
  }
}

/** What a transaction that is not booked yet has the provider asked. */
const NEWS_CALLS: readonly ProviderOperation[] = ['getPayment', 'getRequest']

/** Once more behind the pause that the provider asks for, where it says how long. */
const reconcileObeying = async (
  deps: SpanDeps,
  transaction: ProviderTransaction,
  known: Payment | undefined,
  deadlineMs: number,
): Promise<Reconciled> => {
  const mayAsk = known === undefined || known.creditedProviderPaymentId !== transaction.providerPaymentId
  if (mayAsk && !(await waitForProvider(deps, NEWS_CALLS, deadlineMs))) return 'rate_limited'
  const reconciled = await reconcileTransaction(deps, transaction, known)
  if (reconciled !== 'rate_limited' || !isPausing(deps, NEWS_CALLS)) return reconciled
  const waited = await waitForProvider(deps, NEWS_CALLS, deadlineMs)
  return waited ? reconcileTransaction(deps, transaction, known) : reconciled
}

const reconcilePage = async (
  deps: SpanDeps,
  { transactions }: TransactionPage,
  tally: Tally,
  deadlineMs: number,
): Promise<SpanRead> => {
  const payments = await paymentsOf(deps, transactions)
  let openSince: Timestamp | undefined
  for (const transaction of transactions) {
    if (deps.monotonicMs() >= deadlineMs) return { end: 'out_of_time', openSince }
    const paymentId = paymentIdOf(transaction.reference)
    const known = paymentId && payments.get(paymentId)
    const reconciled = await reconcileObeying(deps, transaction, known, deadlineMs)
    if (reconciled === 'rate_limited') return { end: 'rate_limited', openSince }
    tally.transactions++
    if (reconciled === 'passed_over') tally.passedOver++
    if (reconciled !== 'open') continue
    tally.unanswered++
    openSince = earlier(openSince ?? transaction.updatedAt, transaction.updatedAt)
  }
  return { end: 'read', openSince }
}

/**
 * Reads one span of the provider's transactions to its end, page by page, and reconciles each. A transaction that could
 * not be looked at does not hold up the others: it is answered in `openSince`.
 */
export const readSpan = async (deps: SpanDeps, span: Span, tally: Tally, deadlineMs: number): Promise<SpanRead> => {
  let openSince: Timestamp | undefined
  let afterId: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    if (deps.monotonicMs() >= deadlineMs) return { end: 'out_of_time', openSince }
    if (!(await waitForProvider(deps, LIST_CALL, deadlineMs))) return { end: 'rate_limited', openSince }
    const filter = {
      allTypes: true,
      updatedFrom: span.from,
      updatedTo: span.to,
      limit: PAGE,
      ...(afterId && { afterId }),
    }
    const answer = await deps.provider.listTransactions(filter, PROVIDER_READ_TIMEOUT_MS)
    if (answer.kind !== 'found') {
      const end = endBy(answer)
      if (end === 'rate_limited' && isPausing(deps, LIST_CALL)) continue
      return { end, openSince }
    }
    await noteUnreadable(deps, answer.value)
    const read = await reconcilePage(deps, answer.value, tally, deadlineMs)
    if (read.openSince !== undefined) openSince = earlier(openSince ?? read.openSince, read.openSince)
    if (read.end !== 'read') return { end: read.end, openSince }
    afterId = answer.value.afterId ?? answer.value.transactions.at(-1)?.transactionId
    if (!answer.value.hasMore || afterId === undefined) return { end: 'read', openSince }
  }
  return { end: 'out_of_time', openSince }
}
