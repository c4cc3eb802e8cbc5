import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { conflict, GatewayError } from '../errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, paymentIdOf, referenceOf } from '../ids.ts'
import { readableRows, readRows } from '../if-valid.ts'
import { bookingsOf } from '../journal/house-store.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment, isForeign } from '../payment/payment-store.ts'
import {
  isInRupiah,
  type ProviderTransaction,
  positionAfter,
  providerFailure,
  type TransactionFilter,
  type Unanswered,
} from '../provider/provider.ts'
import { finding, recordFinding, reportSuspense } from '../suspense/record-suspense.ts'
import { FromItem, toItem } from '../table/attributes.ts'
import { paymentKey } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import { addMs, DAY_MS, dayNumber, MINUTE_MS, TimestampSchema, timeLimit } from '../time.ts'
import { postPayments, settledRowOf } from './post-payments.ts'

export type AssumeDeps = Pick<
  Deps,
  'stage' | 'table' | 'provider' | 'now' | 'monotonicMs' | 'log' | 'alerts'
>

/** How long a payment waits for its settled row before its fee is assumed. */
export const FEE_WAIT_MS = 7 * DAY_MS

/** The most payments that one run asks about, within a minute. */
const MAX_AT_ONCE = 50
/** After so many no run follows until the next day: each run may record a settlement. */
const MAX_UNANSWERED = 5

/** A row of a client's list of open payments, by which the list continues. */
export const OpenRowSchema = v.pipe(
  FromItem,
  v.object({ openAt: TimestampSchema, id: PaymentIdSchema }),
)
export type OpenRow = v.InferOutput<typeof OpenRowSchema>

/**
 * Posts some of a client's overdue payments. Answers the last payment that it asked about if more
 * payments may wait. The next run begins after that payment, so that a payment that cannot be
 * posted delays no other payment.
 */
export async function postOverduePayments(
  deps: AssumeDeps,
  clientId: ClientId,
  startAfter?: OpenRow,
) {
  const isOver = timeLimit(deps, MINUTE_MS)
  const day = dayNumber(deps.now())
  const pages = queryPages(deps, {
    index: 'by-open',
    partition: [clientId],
    range: { atMost: addMs(deps.now(), -FEE_WAIT_MS) },
    // Payments without answers may fill a run. Another day's run begins at the other end.
    newestFirst: day % 2 === 1,
    limit: MAX_AT_ONCE,
    cursor: startAfter && {
      ...paymentKey(startAfter.id),
      ...toItem({ ...startAfter, owner: clientId }),
    },
  })
  let askedCount = 0
  let unansweredCount = 0
  // The index only suggests: each payment is read again.
  for await (const { items } of pages) {
    for (const row of readableRows(deps, 'payment', readRows(OpenRowSchema, items))) {
      const reason = await postOverduePayment(deps, row.id).catch((cause: unknown) => {
        deps.log.error('payment.check_failed', { work: 'posting', id: row.id }, cause)
        return undefined
      })
      if (reason !== undefined) unansweredCount++
      const isSilent = unansweredCount >= MAX_UNANSWERED
      // No other payment would be answered now. They stay open, and the settlement continues.
      if (isSilent && (reason === 'rate_limited' || reason === 'misconfigured')) return undefined
      if (++askedCount === MAX_AT_ONCE || isOver()) return isSilent ? undefined : row
    }
  }
  return undefined
}

/** After a lost race one more read finds the payment posted. */
const MAX_TRIES = 3

/**
 * Posts a payment that has waited long enough. The provider is asked once more; without a settled
 * row the estimate becomes the fee, with a finding. Answers why the provider answers nothing. Then,
 * and after a refusal, the payment stays open.
 */
async function postOverduePayment(
  deps: AssumeDeps,
  paymentId: PaymentId,
): Promise<Unanswered['reason'] | undefined> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const payment = await findStoredPayment(deps, paymentId)
    if (payment?.status !== 'succeeded' || payment.openAt === undefined) return undefined
    if (isForeign(payment)) {
      await recordFinding(deps, { subject: paymentId, cause: 'payment_foreign', payment })
      return undefined
    }
    const answer = await askForOwnRow(deps, payment)
    if (answer.kind === 'unanswered') return answer.reason === 'refused' ? undefined : answer.reason
    const { row, contradicting, isKnown, isVoid } = answer
    // The sync closes the payment of a void row. Of a failed row an operator asks the provider.
    if (isVoid) return undefined
    // Without any row the provider may not have the money either.
    const cause = contradicting
      ? 'row_contradicts'
      : isKnown
        ? 'fee_assumed'
        : 'transaction_missing'
    const assumed = finding({ subject: payment.paymentId, cause, payment, now: deps.now() })
    const by = row ? { row } : { assumed, contradicting }
    const [posted] = await postPayments(deps, [{ payment, by }])
    if (posted === undefined) continue
    if (row === undefined) await reportSuspense(deps, assumed)
    return undefined
  }
  return undefined
}

/**
 * `row`: undefined until the payment's own row has settled with its final fee. `contradicting`:
 * that row, if it says nothing about the fee.
 */
export async function askForOwnRow(deps: Pick<Deps, 'provider' | 'stage'>, payment: Payment) {
  const providerPaymentId = payment.capture?.providerPaymentId
  // Without an id the provider lists every payment.
  const answer = providerPaymentId
    ? await askForRows(deps, providerPaymentId, payment.paymentId)
    : { kind: 'answered' as const, rows: [], isVoid: false, isWhole: true }
  if (answer.kind === 'unanswered') return answer
  const { rows: ownRows, isVoid } = answer
  const settled = ownRows.flatMap((ownRow) => settledRowOf(deps, payment, ownRow) ?? [])
  const row = settled.find(({ contradicts }) => contradicts !== true)
  const contradicting = settled.find(({ contradicts }) => contradicts === true)
  // An unreadable row of the capture may be the payment's own row.
  const isKnown = ownRows.length > 0 || !answer.isWhole
  const found = { row, ...(contradicting && { contradicting }), isKnown, isVoid }
  return { kind: 'answered' as const, ...found }
}

export const UNCHANGED = 'nothing is changed; try again'

/** The rows by which the customer's money came, as the provider shows them now. */
export async function askForRows(
  deps: Pick<Deps, 'provider'>,
  providerPaymentId: string,
  paymentId?: PaymentId,
) {
  const answer = await listRows(deps, { providerPaymentId })
  if (answer.kind === 'unanswered') return answer
  return { ...answer, ...ownRowsAmong(answer.rows, providerPaymentId, paymentId) }
}

/** `isVoid`: an own row is void or has failed, and no own row stands. */
function ownRowsAmong(
  rows: readonly ProviderTransaction[],
  providerPaymentId: string,
  paymentId: PaymentId | undefined,
) {
  // Another payment's row may name this capture. A row without a reference names no other payment.
  const ownRows = rows.filter(
    (row) =>
      row.type === 'payment' &&
      row.providerPaymentId === providerPaymentId &&
      (!paymentId || row.reference === '' || paymentIdOf(row.reference) === paymentId),
  )
  const gone = ownRows.filter(({ status }) => status === 'reversed' || status === 'failed')
  const isStanding = ownRows.some(
    (row) => row.status === 'success' && gone.some((other) => isOfSameMoney(row, other)),
  )
  return { rows: ownRows, isVoid: gone.length > 0 && !isStanding }
}

/**
 * Whether `row` can stand for another row of its capture that is void. The net of a pending row may
 * still change.
 */
export function isOfSameMoney(row: ProviderTransaction, other: ProviderTransaction): boolean {
  const { status, amountMinor, currency, providerMinor, isForeignNet } = row
  if (amountMinor !== other.amountMinor || currency !== other.currency) return false
  const isPossible = !isForeignNet && providerMinor > 0 && providerMinor <= amountMinor
  return isPossible || status === 'pending'
}

/**
 * The capture's own rows, before our bank gives its money back. `payment` is credited with it.
 * Throws 502 without all rows, and 409 for a row that gives money back and is not booked yet.
 */
export async function requireRows(
  deps: Pick<Deps, 'provider' | 'table'>,
  providerPaymentId: string,
  payment?: Payment,
) {
  const ofCapture = await askForAll(deps, { providerPaymentId })
  const answer = ownRowsAmong(ofCapture, providerPaymentId, payment?.paymentId)
  const own = payment && referenceOf(payment.paymentId, payment.attempt)
  const references = [
    payment?.capture?.reference ?? own,
    ...answer.rows.map((row) => row.reference),
  ]
  const unnamed = await Array.fromAsync(new Set(references), async (reference) =>
    reference ? askForAll(deps, { reference }) : [],
  )
  // A refund may name the money's reference, and an id of its own instead of the capture.
  const others = unnamed.flat().filter((row) => row.providerPaymentId === '')
  const back = [...ofCapture, ...others].filter(givesBack)
  for (const { transactionId, createdAt: rowAt, reference } of back) {
    const id = paymentIdOf(reference)
    const stored = payment ?? (id && (await findStoredPayment(deps, id)))
    const movements = stored?.status === 'succeeded' ? stored.movements : []
    // A row that stands after its void is booked nowhere.
    const moved = movements.findLast((row) => row.transactionId === transactionId)
    if (moved && moved.type !== 'reversal') continue
    const booked = await bookingsOf(deps, { transactionId, rowAt })
    if (Object.keys(booked).length > 0 && !booked.reversal) continue
    throw conflict(
      `the provider gives money back by row ${transactionId}`,
      moved || booked.reversal
        ? 'Give nothing back. The books undid this row, and it stands again: see the runbook.'
        : 'Give nothing back now. The sync books the row within minutes, or a week while its fee ' +
            'is open. Then give back what is left.',
    )
  }
  return answer
}

/** A row whose type or status no document names may give money back too. */
function givesBack(row: ProviderTransaction) {
  const { type, status, providerMinor } = row
  const isBack = type === 'return' || (type === 'unknown' && providerMinor < 0)
  return isBack && isInRupiah(row) && status !== 'failed' && status !== 'reversed'
}

/** A bound: 500 rows are far more than the provider books of one payment. */
const MAX_PAGES = 10

type RowsFilter = Pick<TransactionFilter, 'providerPaymentId' | 'reference'>

/** Rows of every type. `isWhole`: every row of this filter was read. */
export async function listRows({ provider }: Pick<Deps, 'provider'>, filter: RowsFilter) {
  const rows: ProviderTransaction[] = []
  let isWhole = true
  let hasMore = true
  let afterId: string | undefined
  for (let pages = 0; hasMore && pages < MAX_PAGES; pages++) {
    const page = { ...filter, rows: 'all', limit: 50, ...(afterId && { afterId }) } as const
    const answer = await provider.listTransactions(page)
    if (answer.kind === 'unanswered') return answer
    const { transactions, unreadableIds } = answer.value
    rows.push(...transactions)
    const position = positionAfter(answer.value)
    isWhole &&= unreadableIds === undefined
    hasMore = answer.value.hasMore
    // The provider gives no new position to continue from.
    if (position === undefined || position === afterId) break
    afterId = position
  }
  return { kind: 'answered' as const, rows, isWhole: isWhole && !hasMore }
}

/** Throws 502 without an answer, and without all rows: an unread row may give the money back. */
async function askForAll(deps: Pick<Deps, 'provider'>, filter: RowsFilter) {
  const answer = await listRows(deps, filter)
  if (answer.kind === 'unanswered') throw providerFailure(answer, UNCHANGED)
  if (answer.isWhole) return answer.rows
  throw new GatewayError('server_error', 'not every row of this money can be read', {
    actionHint:
      'Give nothing back. Look at every row of this money in the provider dashboard. If no row ' +
      'gives the money back, call the owner of the code.',
  })
}

export function refuseVoid({ isVoid }: { readonly isVoid: boolean }): void {
  if (!isVoid) return
  throw conflict(
    'the provider has taken this money back',
    'Give nothing back. The sync books a void within minutes. If no row is void, its row has ' +
      'failed: write held money off, and ask the provider about a payment.',
  )
}
