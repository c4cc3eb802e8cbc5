import type { ProviderTransaction, TransactionType } from '../provider.ts'

const typed = (type: TransactionType, ...names: readonly string[]) => names.map((name) => [name, type] as const)

/** The provider books two of these types although its documented list lacks them. */
export const TRANSACTION_TYPE: ReadonlyMap<string, TransactionType> = new Map([
  ...typed('payment', 'PAYMENT'),
  ...typed('return', 'REFUND', 'CHARGEBACK', 'chargeback_deduction'),
  ...typed('correction', 'CHARGEBACK_REVERSAL', 'ADJUSTMENT_ADD', 'ADJUSTMENT_DEDUCT', 'OTHER'),
  ...typed('account', 'BNPL_PARTNER_SETTLEMENT_CREDIT', 'BNPL_PARTNER_SETTLEMENT_DEBIT', 'CASHBACK_FEE'),
  ...typed('account', 'CASHBACK_VAT', 'CONVERSION', 'DISBURSEMENT', 'FOREX_DEDUCTION', 'FOREX_DEPOSIT'),
  ...typed('account', 'IN_PERSON_PAYMENT', 'LOAN_REPAYMENT', 'REMITTANCE', 'REMITTANCE_COLLECTION_PAYMENT'),
  ...typed('account', 'REMITTANCE_PAYOUT', 'RESERVES_HOLD', 'RESERVES_RELEASE', 'TOPUP', 'TRANSFER_IN'),
  ...typed('account', 'TRANSFER_OUT', 'WITHDRAWAL'),
])

export const TRANSACTION_STATUS: ReadonlyMap<string, ProviderTransaction['status']> = new Map([
  ['PENDING', 'pending'],
  ['SUCCESS', 'success'],
  ['FAILED', 'failed'],
  ['VOIDED', 'reversed'],
  ['REVERSED', 'reversed'],
])
/** The kind of reversal, by type and status: a payment's own row, or a row of its own type. */
export const RETURNS: ReadonlyMap<string, ProviderTransaction['returns']> = new Map([
  ['PAYMENT VOIDED', 'voided'],
  ['PAYMENT REVERSED', 'reversed'],
  ['REFUND SUCCESS', 'refund'],
  ['CHARGEBACK SUCCESS', 'chargeback'],
  ['chargeback_deduction SUCCESS', 'chargeback'],
])

export const WITHDRAWAL_TYPES = new Set(['WITHDRAWAL'])

/** Rows whose amount includes the provider's dispute fee. */
export const CHARGEBACK_TYPES = new Set(['CHARGEBACK', 'chargeback_deduction'])

export const SETTLED = new Set(['SETTLED', 'EARLY_SETTLED'])
export const FEE_NOT_FINAL = new Set(['', 'PENDING', 'CANCELED', 'REVERSED'])
