import { bookedRow, type HouseEntry } from '../journal/house-store.ts'
import { less, type Minor, minor, plus, ZERO } from '../money.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { bookTransfer, houseRowOf } from '../posting/house-journal.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { type NamedPayment, recordSuspense } from '../suspense/record-suspense.ts'
import { syncFinding } from './provider-row.ts'

type Booked = Pick<HouseEntry, 'providerMinor' | 'feeMinor'>

/**
 * A row may be booked before the provider's own fee is final, or before the provider gives the fee
 * back. What the row then moves more or less is booked once, as a withdrawal of nothing with that
 * fee: the house pays it. Each change is a finding. Safe to repeat.
 */
export async function bookLateFee(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  booked: Booked | undefined,
  payment: NamedPayment | undefined,
): Promise<void> {
  const { status, transactionId, providerMinor, isFeeEnded, feeMinor = ZERO } = transaction
  if (booked === undefined || status !== 'success' || isFeeEnded !== true) return
  const row = feeRowOf(transaction)
  const { withdrawal: lateFee } = await bookedRow(deps, row)
  const knownMinor = plus(booked.providerMinor, lateFee?.providerMinor ?? ZERO)
  if (knownMinor === providerMinor) return
  const changeMinor = less(providerMinor, knownMinor)
  const about = { cause: 'fee_changed', payment } as const
  const subject = lateFee ? `${row.transactionId} ${feeMinor}` : row.transactionId
  const amountMinor: Minor = minor(Math.abs(changeMinor))
  const finding = { ...syncFinding(deps, transaction, { ...about, subject }), amountMinor }
  if (lateFee) return recordSuspense(deps, finding)
  const contradiction = syncFinding(deps, transaction, {
    subject: transactionId,
    cause: 'row_contradicts',
    payment,
  })
  const late = {
    ...row,
    providerMinor: changeMinor,
    feeMinor: less(feeMinor, booked.feeMinor ?? ZERO),
  }
  await bookTransfer(deps, late, 'withdrawal', { contradiction, named: finding })
}

/** The fee has a key of its own, because its row is booked. It moves no amount beside the fee. */
export function feeRowOf(transaction: ProviderTransaction) {
  const row = houseRowOf(transaction)
  return { ...row, transactionId: `${row.transactionId}#fee`, amountMinor: ZERO }
}
