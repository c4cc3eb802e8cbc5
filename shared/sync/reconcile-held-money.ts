import { isLeftToOperator } from '../journal/house-store.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import {
  bookSuspense,
  bookSuspenseRefund,
  bookSuspenseVoid,
  houseRowOf,
} from '../posting/house-journal.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { isInRupiah, moneyRowOf, recordRowFinding, syncFinding } from './provider-row.ts'
import { type Reconciled, recordUnmatchedRow } from './reconcile-house-row.ts'

/** Books the money's settled payment, or a reversal. Any other row is a finding. */
export async function reconcileHeldMoney(
  deps: NewsDeps,
  item: Suspense,
  transaction: ProviderTransaction,
): Promise<Reconciled> {
  const row = houseRowOf(transaction)
  const moneyRow = moneyRowOf(transaction)
  if (moneyRow?.isOwnRow || moneyRow?.type === 'refund' || moneyRow?.type === 'chargeback') {
    if (!moneyRow.isOwnRow && (await isLeftToOperator(deps, row))) return 'done'
    const amountMinor = transaction.disputedMinor ?? row.amountMinor
    const about = { subject: row.transactionId, cause: 'row_contradicts', payment: item } as const
    const contradiction = syncFinding(deps, transaction, about)
    const booked = moneyRow.isOwnRow
      ? await bookSuspenseVoid(deps, item, row)
      : await bookSuspenseRefund(deps, item, { ...row, amountMinor }, contradiction)
    // An operator has refunded the money by bank or written it off. The finding lets the operator
    // stop the transfer.
    const isClosed = booked.status === 'resolved' && booked.resolution !== 'refunded'
    if (isClosed) await recordRowFinding(deps, transaction, booked)
    return 'done'
  }
  if (transaction.type !== 'payment' || transaction.status !== 'success') {
    return recordUnmatchedRow(deps, transaction, item)
  }
  if (!isInRupiah(transaction)) {
    await recordRowFinding(deps, transaction, item)
    return 'done'
  }
  if (transaction.keptMinor !== undefined) await bookSuspense(deps, item, row)
  return { booked: undefined }
}
