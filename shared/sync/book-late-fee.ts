import type { TableDeps } from '../deps.ts'
import { bookingsOf, type HouseEntry } from '../journal/house-store.ts'
import { less, minor, plus, ZERO } from '../money.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import type { Payment } from '../payment/payment.ts'
import { bookTransfer, type HouseRow, houseRowOf } from '../posting/house-journal.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { type NamedPayment, recordSuspense } from '../suspense/record-suspense.ts'
import { recordReinstatedRow, syncFinding } from './provider-row.ts'

type Booked = Pick<HouseEntry, 'providerMinor' | 'amountMinor' | 'feeMinor'>

/** A fee becomes final, and may be given back. Of more changes a person decides. */
const MAX_CHANGES = 3

/**
 * A row may be booked before the provider's own fee is final, or before the provider gives the fee
 * back. What the row then moves more or less is booked, as a withdrawal of nothing with that fee:
 * the house pays it. The row may have moved the fee before it showed it: then only the fee is
 * booked. Each change is a finding. The row stands: its void gives everything back. Safe to repeat.
 */
export async function bookLateFee(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  booked: Booked | undefined,
  payment: NamedPayment | undefined,
) {
  const { transactionId, providerMinor, isFeeEnded, feeMinor = ZERO } = transaction
  if (booked === undefined || isFeeEnded !== true) return
  const changes = await bookedFees(deps, transaction)
  const known = changes.reduce(withChange, booked)
  const changeMinor = less(providerMinor, known.providerMinor)
  const feeChangeMinor = less(feeMinor, known.feeMinor ?? ZERO)
  if (changeMinor === 0 && feeChangeMinor === 0) return
  const row = feeRowsOf(transaction)[changes.length]
  const subject = row?.transactionId ?? `${transactionId}#fee ${feeMinor}`
  const amountMinor = minor(Math.abs(changeMinor || feeChangeMinor))
  const about = { cause: 'fee_changed', payment, subject } as const
  const finding = { ...syncFinding(deps, transaction, about), amountMinor }
  if (row === undefined) return recordSuspense(deps, finding)
  const contradiction = syncFinding(deps, transaction, { cause: 'row_contradicts', payment })
  const late = { ...row, providerMinor: changeMinor, feeMinor: feeChangeMinor }
  await bookTransfer(deps, late, 'withdrawal', {
    contradiction: isSound(transaction, booked) ? undefined : contradiction,
    named: finding,
  })
}

/** An undone movement gave its fee back, too. A row that stands after its void is a finding. */
export async function bookLateFeeOfMovement(
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
) {
  const moved = payment.movements.filter((row) => row.transactionId === transaction.transactionId)
  const undone = moved.find(({ type }) => type === 'reversal')
  if (undone) await recordReinstatedRow(deps, transaction, undone.at, payment)
  // A row that has changed its type may have moved twice. Then no movement has all of its fee.
  else if (moved.length === 1) await bookLateFee(deps, transaction, moved[0], payment)
}

/** What the house has booked after the row itself. */
export async function bookedFees(deps: TableDeps, transaction: ProviderTransaction) {
  const changes: HouseEntry[] = []
  for (const row of feeRowsOf(transaction)) {
    const { withdrawal } = await bookingsOf(deps, row)
    if (withdrawal === undefined) return changes
    changes.push(withdrawal)
  }
  return changes
}

function withChange(booked: Booked, change: Booked) {
  const feeMinor = plus(booked.feeMinor ?? ZERO, change.feeMinor ?? ZERO)
  return { ...booked, providerMinor: plus(booked.providerMinor, change.providerMinor), feeMinor }
}

/**
 * Whether the row moves the booked amount and its fee. If the row contradicted itself when it was
 * booked, `other` then gets the difference back.
 */
function isSound(
  { providerMinor, feeMinor = ZERO, amountMinor, disputedMinor }: ProviderTransaction,
  booked: Booked,
) {
  const movedMinor = Math.abs(plus(providerMinor, feeMinor))
  const isOfAmount = [amountMinor, disputedMinor].includes(booked.amountMinor)
  return isOfAmount && movedMinor === (disputedMinor ?? amountMinor)
}

/** Each change has a key of its own, because its row is booked. It moves nothing but the fee. */
export function feeRowsOf(transaction: ProviderTransaction): readonly HouseRow[] {
  const row = houseRowOf(transaction)
  return Array.from({ length: MAX_CHANGES }, (_, at) => {
    const key = at === 0 ? 'fee' : `fee${at + 1}`
    return { ...row, transactionId: `${row.transactionId}#${key}`, amountMinor: ZERO }
  })
}
