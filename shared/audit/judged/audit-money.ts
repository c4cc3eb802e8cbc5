import { ZERO } from '../../money.ts'
import type { Payment, Reversal } from '../../payment/payment.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import { replayMovements } from '../../posting/reversal-after.ts'
import { type Difference, differs, when } from '../../verdict/difference.ts'

/** How often the payment's money was written: posted, moved, and its late row booked. */
const versionOf = ({ postedAt, voidedOpen, movements, lateRowAt }: Payment): number | undefined => {
  const isPosted = postedAt !== undefined && voidedOpen !== true
  return movements.length + (isPosted ? 1 : 0) + (lateRowAt === undefined ? 0 : 1) || undefined
}

const auditReversal = (payment: Payment, expected: Reversal | undefined): readonly Difference[] => {
  const { paymentId: id, reversal } = payment
  return [
    ...differs('payment.reversal.amount_minor', id, expected?.amountMinor, reversal?.amountMinor),
    ...differs('payment.reversal.at', id, expected?.at, reversal?.at),
    ...differs('payment.reversal.undone_at', id, expected?.undoneAt, reversal?.undoneAt),
  ]
}

/** Applies every noted row again: what it took, what is left of it, the sum, and the public reversal. */
const auditMovements = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, movements } = payment
  const { money, reversal } = replayMovements(payment, moneyOf(payment).price)
  return [
    ...differs('payment.taken_back_minor', id, money.takenBackMinor, payment.takenBackMinor),
    ...differs('payment.is_void', id, String(money.isVoid), String(payment.isVoid === true)),
    ...differs('payment.movements', id, money.movements.length, movements.length),
    ...money.movements.flatMap((expected, at) => [
      ...differs('payment.movements.took_minor', id, expected.tookMinor, movements[at]?.tookMinor),
      ...differs('payment.movements.left_minor', id, expected.leftMinor, movements[at]?.leftMinor),
    ]),
    ...auditReversal(payment, reversal),
  ]
}

/** A payment's money: open or posted, what moved it, and how often. An unpaid payment has none. */
export const auditMoney = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, status, openAt, postedAt, paidAt, takenBackMinor, movements } = payment
  if (status !== 'succeeded') {
    const found = postedAt ?? openAt
    return [
      ...when(found !== undefined, differs('payment.posted_at', id, 'never paid', found)),
      ...differs('payment.taken_back_minor', id, ZERO, takenBackMinor),
      ...differs('payment.movements', id, 0, movements.length),
    ]
  }
  const own = [
    ...differs('payment.open_at', id, postedAt === undefined ? paidAt : undefined, openAt),
    ...differs('payment.money_version', id, versionOf(payment), payment.moneyVersion),
  ]
  try {
    return [...own, ...auditMovements(payment)]
  } catch {
    return [...own, ...differs('payment.movements', id, 'figures that add up', 'otherwise')]
  }
}
