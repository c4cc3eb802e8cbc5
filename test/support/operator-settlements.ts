import type { Settlement } from '../../shared/settlement/settlement.ts'
import { BANK } from './settlement-builders.ts'

/** A settlement of one default payment as operators see it. */
export const shownSettlement = (settlement: Settlement, fields: Readonly<Record<string, unknown>> = {}) => ({
  id: settlement.settlementId,
  client_id: settlement.clientId,
  period_start: settlement.periodStart,
  period_end: settlement.periodEnd,
  gross_minor: 100_000,
  xendit_fees_minor: 4_000,
  hexolus_markup_minor: 100,
  net_minor: 95_900,
  currency: 'IDR',
  payment_count: 1,
  status: 'recorded',
  triggered_by: 'auto',
  bank_name: BANK.bankName,
  bank_account_no: BANK.bankAccountNo,
  bank_account_name: BANK.bankAccountName,
  notes: null,
  settled_at: null,
  created_at: settlement.createdAt,
  recredited_at: null,
  replaces: null,
  warning: null,
  ...fields,
})

/** A refusal as operators see it. */
export const refusedWith = (message: string, fields: Readonly<Record<string, unknown>>) => ({
  status: 422,
  body: { message, code: 'validation', ...fields },
})
