import { assertInvariant } from '../errors.ts'
import { paymentIdOf } from '../ids.ts'
import { bookingsOf, type HouseEntry, isLeftToOperator } from '../journal/house-store.ts'
import { less } from '../money.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { askForRows, isOfSameMoney } from '../posting/ask-for-rows.ts'
import { bookRowBack, bookUnmatchedRow, houseRowOf } from '../posting/house-journal.ts'
import { movePayment } from '../posting/move-payment.ts'
import { isInRupiah, type ProviderTransaction } from '../provider/provider.ts'
import { type NamedPayment, recordSuspense } from '../suspense/record-suspense.ts'
import { bookLateFee, feeRowsOf } from './book-late-fee.ts'
import { recordUndonePayout } from './payout-of-row.ts'
import {
  findMovedPayment,
  isYoung,
  type Reconciled,
  recordReinstatedRow,
  recordRowFinding,
  rowFinding,
  transferCaseOf,
} from './provider-row.ts'

/** If the row moved rupiah, the house books it, and what a payment's row moves later. */
export async function recordUnmatchedRow(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  about: NamedPayment | undefined,
): Promise<Reconciled> {
  if (transaction.status === 'success' && isInRupiah(transaction)) {
    const row = houseRowOf(transaction)
    const named = await transferCaseOf(deps, transaction)
    const finding = named ?? rowFinding(deps, transaction, about)
    await bookUnmatchedRow(deps, row, finding)
    const { reversal, ...booked } = await bookingsOf(deps, row)
    // A finding says that the row has moved a payment, and no payment has the movement.
    if (Object.keys(booked).length === 0 && !(await findMovedPayment(deps, transaction)))
      await recordSuspense(deps, finding)
    if (transaction.type !== 'payment') return 'done'
    const { unmatched } = booked
    if (reversal) await recordReinstatedRow(deps, transaction, reversal.postedAt, about)
    else if (unmatched) {
      const feeOf = ({ providerMinor }: Pick<HouseEntry, 'providerMinor'>) =>
        less(transaction.amountMinor, providerMinor)
      const shown = { ...transaction, feeMinor: feeOf(transaction) }
      await bookLateFee(deps, shown, { ...unmatched, feeMinor: feeOf(unmatched) }, about)
    }
  } else if (!(await bookBackVoid(deps, transaction)))
    await recordRowFinding(deps, transaction, about)
  return 'done'
}

/**
 * A capture may have a second row, which becomes void before it is booked: it undoes nothing.
 * `isSecond`: undefined until the first row is booked. Then only the provider knows whether
 * another row stands, and that row may become void too. Undefined if the void undoes the money.
 */
export async function reconcileSecondVoid(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  about: NamedPayment,
  isSecond: boolean | undefined,
): Promise<Reconciled | undefined> {
  const { providerPaymentId, transactionId: id, reference } = transaction
  if (isSecond === undefined) {
    const answer = await askForRows(deps, providerPaymentId, paymentIdOf(reference))
    if (answer.kind === 'unanswered') return 'open'
    const others = answer.rows.filter(
      (row) => row.transactionId !== id && isOfSameMoney(row, transaction),
    )
    const has = (wanted: string) => others.some(({ status }) => status === wanted)
    if ((has('success') || has('pending')) && isYoung(deps, transaction)) return 'open'
    if (!has('success')) return undefined
  }
  return isSecond === false ? undefined : recordUnmatchedRow(deps, transaction, about)
}

/** What the house booked of a row that became void is booked back. False if it booked nothing. */
export async function bookBackVoid(deps: NewsDeps, transaction: ProviderTransaction) {
  if (transaction.status !== 'reversed' && transaction.status !== 'failed') return false
  const finding = rowFinding(deps, transaction, undefined)
  for (const fee of feeRowsOf(transaction))
    if ((await bookRowBack(deps, fee, finding)) === 'not_booked') break
  const row = houseRowOf(transaction)
  // Of these rows the house books only the second row of one capture.
  if (transaction.type === 'payment' && !(await isLeftToOperator(deps, row))) return false
  const booked = await bookRowBack(deps, row, finding)
  if (booked === 'not_booked') return false
  await recordUndonePayout(deps, transaction)
  if (booked === 'booked_back') return true
  const payment = await findStoredPayment(deps, booked.refundOf)
  assertInvariant(payment?.status === 'succeeded', 'a refund belongs to a paid payment')
  const { transactionId, amountMinor, providerMinor, createdAt, updatedAt: at } = transaction
  const moved = { transactionId, amountMinor, providerMinor, createdAt, at }
  await movePayment(deps, payment, { type: 'reversal', ...moved })
  return true
}
