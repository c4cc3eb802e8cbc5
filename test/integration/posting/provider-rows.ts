import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import { minor } from '../../../shared/money.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** What a provider keeps of a dispute, beside the disputed amount. */
export const DISPUTE_FEE = 25_000

/** A refund of a part, by a row that takes as much from our account. */
export const aRefund = (
  deps: TestDeps,
  amountMinor: number,
  transactionId = `refund_${crypto.randomUUID()}`,
): MoneyRow => ({
  type: 'refund',
  kind: 'refund',
  transactionId,
  amountMinor: minor(amountMinor),
  providerMinor: minor(-amountMinor),
  at: deps.now(),
})

/** A chargeback, whose row takes the provider's fee of it besides. */
export const aChargeback = (
  deps: TestDeps,
  amountMinor: number,
  { transactionId = `dispute_${crypto.randomUUID()}`, feeMinor = DISPUTE_FEE } = {},
): MoneyRow => ({
  type: 'chargeback',
  kind: 'chargeback',
  transactionId,
  amountMinor: minor(amountMinor),
  providerMinor: minor(-amountMinor - feeMinor),
  at: deps.now(),
})

/** A dispute that is won: the provider gives the amount back. */
export const aWin = (deps: TestDeps, amountMinor: number, transactionId = `won_${crypto.randomUUID()}`): MoneyRow => ({
  type: 'dispute_won',
  transactionId,
  amountMinor: minor(amountMinor),
  providerMinor: minor(amountMinor),
  at: deps.now(),
})

/** A row that is voided: the payment's own, or one that moved it before. */
export const aVoid = (deps: TestDeps, transactionId: string, amountMinor: number, isOwnRow = false): MoneyRow => ({
  type: 'reversal',
  ...(isOwnRow && { isOwnRow: true, kind: 'voided' as const }),
  transactionId,
  amountMinor: minor(amountMinor),
  providerMinor: minor(0),
  at: deps.now(),
})
