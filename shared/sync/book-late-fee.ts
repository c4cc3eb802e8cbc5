import { bookedRow, type HouseEntry } from '../journal/house-store.ts'
import { less, type Minor, minor, plus, ZERO } from '../money.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { bookTransfer, houseRowOf } from '../posting/house-journal.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { type NamedPayment, recordSuspense } from '../suspense/record-suspense.ts'
import { syncFinding } from './provider-row.ts'

type Booked = Pick<HouseEntry, 'providerMinor' | 'amountMinor' | 'feeMinor'>

/**
 * A row may be booked before the provider's own fee is final, or before the provider gives the fee
 * back. What the row then moves more or less is booked once, as a withdrawal of nothing with that
 * fee: the house pays it. The row may have moved the fee before it showed it: then only the fee is
 * booked. Each change is a finding. Safe to repeat.
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
  const changeMinor = changeOf(providerMinor, booked.providerMinor, lateFee?.providerMinor)
  const feeChangeMinor = changeOf(feeMinor, booked.feeMinor, lateFee?.feeMinor)
  if (changeMinor === 0 && feeChangeMinor === 0) return
  const about = { cause: 'fee_changed', payment } as const
  const subject = lateFee ? `${row.transactionId} ${feeMinor}` : row.transactionId
  const amountMinor: Minor = minor(Math.abs(changeMinor || feeChangeMinor))
  const finding = { ...syncFinding(deps, transaction, { ...about, subject }), amountMinor }
  if (lateFee) return recordSuspense(deps, finding)
  const contradiction = syncFinding(deps, transaction, {
    subject: transactionId,
    cause: 'row_contradicts',
    payment,
  })
  const late = { ...row, providerMinor: changeMinor, feeMinor: feeChangeMinor }
  await bookTransfer(deps, late, 'withdrawal', {
    contradiction: isSound(transaction, booked) ? undefined : contradiction,
    named: finding,
  })
}

function changeOf(shownMinor: Minor, bookedMinor = ZERO, lateMinor = ZERO): Minor {
  return less(shownMinor, plus(bookedMinor, lateMinor))
}

/**
 * The row moves the booked amount and its fee. Then `other` gets back what the row contradicted
 * itself by when it was booked.
 */
function isSound(
  { providerMinor, feeMinor = ZERO, amountMinor, disputedMinor }: ProviderTransaction,
  booked: Booked,
): boolean {
  const movedMinor = Math.abs(plus(providerMinor, feeMinor))
  const isOfAmount = [amountMinor, disputedMinor].includes(booked.amountMinor)
  return isOfAmount && movedMinor === (disputedMinor ?? amountMinor)
}

/** The fee has a key of its own, because its row is booked. It moves no amount beside the fee. */
export function feeRowOf(transaction: ProviderTransaction) {
  const row = houseRowOf(transaction)
  return { ...row, transactionId: `${row.transactionId}#fee`, amountMinor: ZERO }
}
