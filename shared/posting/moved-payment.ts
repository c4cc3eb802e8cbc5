import type { MoneyRow, Moved } from '../journal/payment-money.ts'
import type { Window } from '../ledger/window-store.ts'
import { less, type Minor, ZERO } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import type { Timestamp } from '../time.ts'
import { reversalAfter } from './reversal-after.ts'

/** For a voided row the provider takes back everything that the row had booked. */
export const withProviderLeg = ({ ownRow, movements }: Payment, row: MoneyRow): MoneyRow => {
  if (row.type !== 'reversal') return row
  const moved = movements.find(({ transactionId }) => transactionId === row.transactionId)
  const bookedMinor = row.isOwnRow === true ? ownRow?.providerMinor : moved?.providerMinor
  return { ...row, providerMinor: less(ZERO, bookedMinor ?? ZERO) }
}

/** The payment after the row, before anything is posted. */
const movedPayment = (payment: Payment, row: MoneyRow, { money }: Moved): Payment => ({
  ...payment,
  takenBackMinor: money.takenBackMinor,
  movements: [...money.movements],
  ...(money.isVoid && { isVoid: true }),
  reversal: reversalAfter(payment, row, money),
})

/** An open payment whose own row was voided: it leaves open with nothing for its client. */
const voidedOpen = (moved: Payment, postedAt: Timestamp): Payment => {
  const finalFee = moved.finalFee ?? { status: 'assumed', feeMinor: moved.providerFeeMinor, at: postedAt }
  return {
    ...moved,
    feeStatus: finalFee.status,
    finalFee,
    postedAt,
    openAt: undefined,
    voidedOpen: true,
    movements: moved.movements.map((movement) => ({ ...movement, postedAt })),
  }
}

/** The part of returned money that the house had written off: the house takes it. */
export const clawedBack = ({ writtenOffMinor }: Pick<Window, 'writtenOffMinor'>, netMinor: Minor): Minor => {
  if (netMinor <= 0 || writtenOffMinor <= 0) return ZERO
  return netMinor < writtenOffMinor ? netMinor : writtenOffMinor
}

/** A posted payment: its newest movement becomes an entry at once. */
const movedPosted = (
  moved: Payment,
  { clawedMinor, postedAt }: { readonly clawedMinor: Minor; readonly postedAt: Timestamp },
): Payment => {
  const clawed = clawedMinor > 0 ? { clawedMinor } : {}
  const [last] = moved.movements.slice(-1)
  const movements = last ? [...moved.movements.slice(0, -1), { ...last, ...clawed, postedAt }] : moved.movements
  return { ...moved, movements }
}

/** The payment after one more row. `postedAt`, `clawedMinor`: of the entry, which an open payment has only if voided. */
export const afterRow = (
  payment: Payment,
  { row, moved }: { readonly row: MoneyRow; readonly moved: Moved },
  entry: { readonly clawedMinor: Minor; readonly postedAt: Timestamp },
): Payment => {
  const after = movedPayment(payment, row, moved)
  if (payment.openAt === undefined) return movedPosted(after, entry)
  return row.isOwnRow === true ? voidedOpen(after, entry.postedAt) : after
}
