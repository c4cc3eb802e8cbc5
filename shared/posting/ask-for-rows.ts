import type { Deps } from '../deps.ts'
import { conflict, GatewayError } from '../errors.ts'
import { type PaymentId, paymentIdOf, referenceOf } from '../ids.ts'
import { bookingsOf } from '../journal/house-store.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import {
  isInRupiah,
  type ProviderTransaction,
  positionAfter,
  providerFailure,
  type TransactionFilter,
} from '../provider/provider.ts'

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

export const UNCHANGED = 'nothing is changed; try again'

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
