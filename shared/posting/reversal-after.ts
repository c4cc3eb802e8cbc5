import type { Figures } from '../journal/entry.ts'
import { type MoneyRow, moneyAfter, type PaymentMoney } from '../journal/payment-money.ts'
import { smaller, ZERO } from '../money.ts'
import type { Payment, Reversal } from '../payment/payment.ts'

/** The public `reversal` of a payment after one more row (design section 10). */
export function reversalAfter(
  before: Reversal | undefined,
  row: MoneyRow,
  money: PaymentMoney,
): Reversal {
  const { price, wentBackMinor, isVoid } = money
  const amountMinor = isVoid ? price.grossMinor : smaller(price.grossMinor, wentBackMinor)
  const isMore = amountMinor > (before?.amountMinor ?? ZERO)
  return {
    kind: kindAfter(before?.kind, row, money),
    amountMinor,
    at: isMore || before === undefined ? row.at : before.at,
    ...(amountMinor === 0 && { undoneAt: before?.undoneAt ?? row.at }),
  }
}

function kindAfter(
  before: Reversal['kind'] | undefined,
  row: MoneyRow,
  { isVoid, isDisputed, wentBackMinor }: PaymentMoney,
): Reversal['kind'] {
  if (isVoid) {
    const wasVoid = before === 'voided' || before === 'reversed'
    return wasVoid || row.isOwnRow !== true ? (before ?? 'reversed') : (row.kind ?? 'reversed')
  }
  if (wentBackMinor === 0) return before ?? 'refund'
  return isDisputed ? 'chargeback' : 'refund'
}

/**
 * Computes a payment's money and its public `reversal` again, from a price and all rows that moved
 * the money. Only the stored `reversal` says how the own row became void.
 */
export function replayMovements(payment: Payment, price: Figures) {
  const rows = payment.movements.map((row) => ({ ...row, kind: payment.reversal?.kind }))
  let reversal: Reversal | undefined
  for (const [at, row] of rows.entries())
    reversal = reversalAfter(reversal, row, moneyAfter(price, rows.slice(0, at + 1)))
  return { money: moneyAfter(price, rows), reversal }
}
