import type { Figures } from '../journal/entry.ts'
import {
  initialMoney,
  type MoneyRow,
  moveMoney,
  type PaymentMoney,
} from '../journal/payment-money.ts'
import { atLeastZero, less, type Minor, plus, ZERO } from '../money.ts'
import type { Payment, Reversal } from '../payment/payment.ts'

/** The public `reversal` of a payment after one more row (design section 10). */
export function reversalAfter(
  before: Reversal | undefined,
  row: MoneyRow,
  money: PaymentMoney,
): Reversal {
  const amountMinor = reversedMinor(money)
  const { kind = before?.kind ?? 'refund', at } = row
  if (amountMinor > (before?.amountMinor ?? ZERO)) return { kind, amountMinor, at }
  const isUndone = money.takenBackMinor === 0 && !money.isVoid
  return {
    kind: before?.kind ?? kind,
    amountMinor,
    at: before?.at ?? at,
    ...(isUndone && { undoneAt: at }),
  }
}

/** Only rows that are not void count. A void own row reverses the whole payment once. */
function reversedMinor({ price, isVoid, applied }: PaymentMoney): Minor {
  const rows = applied.map(({ row }) => row)
  const voidIds = new Set(
    rows.flatMap(({ type, transactionId }) => (type === 'reversal' ? [transactionId] : [])),
  )
  return rows
    .filter(({ transactionId }) => !voidIds.has(transactionId))
    .map(({ type, amountMinor }) =>
      type === 'dispute_won' ? less(ZERO, amountMinor) : amountMinor,
    )
    .reduce(
      (sum, amountMinor) => atLeastZero(plus(sum, amountMinor)),
      isVoid ? price.grossMinor : ZERO,
    )
}

type ReplayResult = { readonly money: PaymentMoney; readonly reversal: Reversal | undefined }

/**
 * Computes a payment's money and its public `reversal` again, from a price and all rows that moved
 * the money. The kind is that of the last row that raised the amount: no price changes the kind.
 */
export function replayMovements(payment: Payment, price: Figures): ReplayResult {
  return payment.movements.reduce<ReplayResult>(
    ({ money: before, reversal }, movement) => {
      const row = { ...movement, kind: payment.reversal?.kind }
      const money = moveMoney(before, row)?.money ?? before
      return { money, reversal: reversalAfter(reversal, row, money) }
    },
    { money: initialMoney(price), reversal: undefined },
  )
}
