import { bookingsOf } from '../journal/house-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import {
  bookSuspense,
  bookSuspenseRefund,
  bookSuspenseVoid,
  type HouseRow,
  houseRowOf,
} from '../posting/house-journal.ts'
import { isInRupiah, type ProviderTransaction } from '../provider/provider.ts'
import { recordSuspense } from '../suspense/record-suspense.ts'
import { isClosedByOperator, type Suspense } from '../suspense/suspense.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import { bookLateFee } from './book-late-fee.ts'
import {
  moneyRowOf,
  type Reconciled,
  recordReinstatedRow,
  recordRowFinding,
  syncFinding,
} from './provider-row.ts'
import { bookBackVoid, reconcileSecondVoid, recordUnmatchedRow } from './reconcile-house-row.ts'

/**
 * Books the money's settled payment, or a reversal with the finding of its loss. Any other row is a
 * finding.
 */
export async function reconcileHeldMoney(
  deps: NewsDeps,
  item: Suspense,
  transaction: ProviderTransaction,
): Promise<Reconciled> {
  const row = houseRowOf(transaction)
  const moneyRow = moneyRowOf(transaction)
  // An operator closed the item when nothing could be booked of its row. The row is the house's.
  const isOfHouse = isClosedByOperator(item) && item.providerMinor === undefined && !item.isVoid
  if (moneyRow?.isOwnRow) {
    const isBookedBack = await bookBackVoid(deps, transaction)
    if (isBookedBack || isOfHouse) await recordRowFinding(deps, transaction, item)
    if (isBookedBack) return 'done'
    const isBooked = item.isVoid || Object.keys(await suspenseBookingsOf(deps, row)).length > 0
    const isSecond = isBooked ? false : item.providerMinor === undefined ? undefined : true
    const second = await reconcileSecondVoid(deps, transaction, item, isSecond)
    if (second) return second
    const booked = await bookSuspenseVoid(deps, item, row)
    const { providerMinor, amountMinor = ZERO } = booked
    // Money whose own row has not settled did not arrive, so its void takes nothing.
    await recordLoss(deps, transaction, booked, providerMinor === undefined ? ZERO : amountMinor)
    return 'done'
  }
  if (moneyRow?.type === 'refund' || moneyRow?.type === 'chargeback') {
    const amountMinor = transaction.disputedMinor ?? row.amountMinor
    const about = { cause: 'row_contradicts', payment: item } as const
    const contradiction = syncFinding(deps, transaction, about)
    if (transaction.hasOpenFee)
      await recordSuspense(deps, syncFinding(deps, transaction, { payment: item }))
    const booked = await bookSuspenseRefund(deps, item, { ...row, amountMinor }, contradiction)
    await recordLoss(deps, transaction, booked, amountMinor)
    return 'done'
  }
  if (transaction.type !== 'payment' || transaction.status !== 'success') {
    return recordUnmatchedRow(deps, transaction, item)
  }
  if (!isInRupiah(transaction)) {
    await recordRowFinding(deps, transaction, item)
    return 'done'
  }
  if (transaction.keptMinor === undefined) return { booked: undefined }
  if (isOfHouse) return recordUnmatchedRow(deps, transaction, item)
  await bookSuspense(deps, item, row)
  await reconcileBookedMoney(deps, item, transaction)
  return { booked: undefined }
}

/** Suspense has the money by this row, or has lost it by the row's void. */
function suspenseBookingsOf(deps: NewsDeps, row: HouseRow) {
  return bookingsOf(deps, row, ['suspense', 'suspense_refunded'])
}

/** What the row moves after it was booked is the house's, and so is a second row of the capture. */
async function reconcileBookedMoney(
  deps: NewsDeps,
  item: Suspense,
  transaction: ProviderTransaction,
) {
  const { amountMinor = ZERO } = item
  if (item.providerMinor === undefined && !item.isVoid) return
  const { suspense, suspense_refunded: lost } = await suspenseBookingsOf(
    deps,
    houseRowOf(transaction),
  )
  if (lost) return recordReinstatedRow(deps, transaction, lost.postedAt, item)
  if (suspense === undefined) {
    await recordUnmatchedRow(deps, transaction, item)
    return
  }
  const { providerMinor } = suspense
  const known = { providerMinor, amountMinor, feeMinor: less(amountMinor, providerMinor) }
  // Of the amount that is held, as at the booking: the row may show another amount.
  const feeMinor = less(amountMinor, transaction.providerMinor)
  await bookLateFee(deps, { ...transaction, feeMinor }, known, item)
}

/**
 * What a row took although suspense did not hold it is the house's loss, and a finding. The row's
 * entry says how much suspense held: the item may have changed after the booking.
 */
async function recordLoss(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  item: Suspense,
  takenMinor: Minor,
) {
  const { suspense_refunded: entry } = await bookingsOf(deps, houseRowOf(transaction))
  const lostMinor = entry ? plus(takenMinor, entry.suspenseMinor) : ZERO
  if (lostMinor <= 0) return
  // The operator who refunded the money by bank or wrote it off may still stop the transfer.
  if (isClosedByOperator(item)) return recordRowFinding(deps, transaction, item)
  const lost = syncFinding(deps, transaction, { cause: 'went_back_twice', payment: item })
  await recordSuspense(deps, { ...lost, amountMinor: lostMinor })
}

/**
 * Undefined if the house has not booked the row. What is booked of it stands, unless it is void.
 * The process may have died before the finding of a refund's loss.
 */
export async function reconcileBookedRow(
  deps: NewsDeps,
  transaction: ProviderTransaction,
): Promise<Reconciled | undefined> {
  const booked = await bookingsOf(deps, houseRowOf(transaction))
  if (Object.keys(booked).length === 0) return undefined
  if (await bookBackVoid(deps, transaction)) return 'done'
  const suspenseId = booked.reversal ? undefined : booked.suspense_refunded?.suspenseId
  const item = suspenseId && (await findSuspense(deps, suspenseId))
  return item ? reconcileHeldMoney(deps, item, transaction) : 'done'
}
