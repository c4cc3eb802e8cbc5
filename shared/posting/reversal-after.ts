import { type Figures, type PaymentMoney, untouched } from '../journal/entry.ts'
import { type MoneyRow, type Movement, moveMoney } from '../journal/payment-money.ts'
import { atLeastZero, less, type Minor, plus, ZERO } from '../money.ts'
import type { Payment, Reversal } from '../payment/payment.ts'

/** Whether a row returns money to the client: a won dispute, or a voided reversal. */
const gives = ({ type, isOwnRow }: MoneyRow): boolean =>
  type === 'dispute_won' || (type === 'reversal' && isOwnRow !== true)

/** The reversed amount: for the payment's own row all of it, whatever the row says. */
const amountOf = ({ notionalMinor }: Payment, { isOwnRow, amountMinor }: MoneyRow): Minor =>
  isOwnRow === true ? notionalMinor : amountMinor

/** The public `reversal` of a payment after one more row (design section 10). */
export const reversalAfter = (payment: Payment, row: MoneyRow, { takenBackMinor, isVoid }: PaymentMoney): Reversal => {
  const before = payment.reversal
  const kind = row.kind ?? before?.kind ?? 'refund'
  const soFar = before?.amountMinor ?? ZERO
  const { at } = row
  if (!gives(row)) return { kind, amountMinor: plus(soFar, amountOf(payment, row)), at }
  const amountMinor = atLeastZero(less(soFar, row.amountMinor))
  const isUndone = takenBackMinor === 0 && !isVoid
  return { kind: before?.kind ?? kind, amountMinor, at: before?.at ?? at, ...(isUndone && { undoneAt: at }) }
}

const kindOf = ({ type }: Movement, { reversal }: Payment) =>
  type === 'refund' || type === 'chargeback' ? type : reversal?.kind

type Replayed = { readonly money: PaymentMoney; readonly reversal: Reversal | undefined }

/**
 * Computes a payment's money and its public `reversal` again, from a price and all rows that moved it. Another price
 * changes what each row took, and so whether a won dispute gave everything back.
 */
export const replayMovements = (payment: Payment, price: Figures): Replayed =>
  payment.movements.reduce<Replayed>(
    ({ money: before, reversal }, movement) => {
      const row = { ...movement, isOwnRow: movement.isOwnRow === true, kind: kindOf(movement, payment) }
      const money = moveMoney(before, row)?.money ?? before
      return { money, reversal: reversalAfter({ ...payment, reversal }, row, money) }
    },
    { money: untouched(price), reversal: undefined },
  )
