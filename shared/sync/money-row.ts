import type { MoneyRow } from '../journal/payment-money.ts'
import type { Payment } from '../payment/payment.ts'
import type { ProviderTransaction } from '../provider/provider.ts'

/** What the row does to a payment's money; undefined of the row that paid it, and of rows that move nothing. */
export const moneyRowOf = (transaction: ProviderTransaction): MoneyRow | undefined => {
  const { type, status, transactionId, amountMinor, providerMinor, updatedAt: at, returns: kind } = transaction
  const row = { transactionId, amountMinor, providerMinor, at }
  if (status === 'reversed') {
    if (type !== 'payment') return { ...row, type: 'reversal' }
    return { ...row, type: 'reversal', isOwnRow: true, kind: kind ?? 'reversed' }
  }
  if (status !== 'success') return undefined
  if (transaction.comesAgain) return { ...row, type: 'dispute_won' }
  if (type !== 'return') return undefined
  return { ...row, type: kind === 'chargeback' ? 'chargeback' : 'refund', kind: kind ?? 'refund' }
}

/**
 * The row with the amount that it disputes: what it shows without its fee, or all of the payment. Undefined where neither
 * is known: then a person decides.
 */
export const withDisputed = (
  row: MoneyRow,
  { disputedMinor }: ProviderTransaction,
  payment: Payment,
): MoneyRow | undefined => {
  if (row.type !== 'chargeback') return row
  if (disputedMinor !== undefined) return { ...row, amountMinor: disputedMinor }
  return row.amountMinor === payment.notionalMinor ? row : undefined
}
