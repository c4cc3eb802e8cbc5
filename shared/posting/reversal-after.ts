import { type Figures, type PaymentMoney, untouched } from '../journal/entry.ts'
import { type MoneyRow, type Movement, moveMoney } from '../journal/payment-money.ts'
import { atLeastZero, less, type Minor, plus, ZERO } from '../money.ts'
import type { Payment, Reversal } from '../payment/payment.ts'

/** How much a row adds to the reversed amount. The void of a row undoes what that row did. */
const addedBy = (payment: Payment, row: Movement | MoneyRow): Minor => {
  if (row.isOwnRow === true) return payment.notionalMinor
  const { type, transactionId, amountMinor } = row
  if (type !== 'reversal') return type === 'dispute_won' ? less(ZERO, amountMinor) : amountMinor
  const voided = payment.movements.find((moved) => moved.transactionId === transactionId && moved.type !== 'reversal')
  return voided ? less(ZERO, addedBy(payment, voided)) : ZERO
}

/** The public `reversal` of a payment after one more row (design section 10). */
export const reversalAfter = (payment: Payment, row: MoneyRow, { takenBackMinor, isVoid }: PaymentMoney): Reversal => {
  const before = payment.reversal
  const addedMinor = addedBy(payment, row)
  const amountMinor = atLeastZero(plus(before?.amountMinor ?? ZERO, addedMinor))
  const { kind = before?.kind ?? 'refund', at } = row
  if (addedMinor > 0) return { kind, amountMinor, at }
  const isUndone = takenBackMinor === 0 && !isVoid
  return { kind: before?.kind ?? kind, amountMinor, at: before?.at ?? at, ...(isUndone && { undoneAt: at }) }
}

const kindOf = ({ type }: Movement, { reversal }: Payment) =>
  type === 'refund' || type === 'chargeback' ? type : reversal?.kind

type Replayed = { readonly money: PaymentMoney; readonly reversal: Reversal | undefined }

/** Computes a payment's money and its public `reversal` again, from a price and all rows that moved it. */
export const replayMovements = (payment: Payment, price: Figures): Replayed =>
  payment.movements.reduce<Replayed>(
    ({ money: before, reversal }, movement) => {
      const row = { ...movement, isOwnRow: movement.isOwnRow === true, kind: kindOf(movement, payment) }
      const money = moveMoney(before, row)?.money ?? before
      return { money, reversal: reversalAfter({ ...payment, reversal }, row, money) }
    },
    { money: untouched(price), reversal: undefined },
  )
