import * as v from 'valibot'
import { amount, described, ID, oneOf, TIME, text, time, WHOLE } from '../dto-field.ts'
import { SETTLEMENT_STATUSES, SETTLEMENT_TRIGGERS } from './settlement.ts'

const bank = described(v.nullable(v.string()), 'As registered when the settlement was recorded.')

/** The settlement object (spec 2.3), as a type and for the API description only. */
export const SettlementDtoSchema = v.object({
  id: ID,
  client_id: ID,
  period_start: time(
    'The start of its period, which includes this time. Each of its entries has ' +
      'period_start <= eligible_at - 24 h < period_end. For a payment that is posted within a ' +
      'day, eligible_at - 24 h is its paid_at.',
  ),
  period_end: time('The end of its period. The period excludes this time.'),
  gross_minor: amount('Sum of `notional_minor` of its entries.'),
  xendit_fees_minor: amount("Sum of the provider's final fees of its entries."),
  hexolus_markup_minor: amount("Sum of the gateway's markups of its entries."),
  net_minor: amount('The amount of the payout: gross less fees and markups.'),
  currency: v.literal('IDR'),
  payment_count: WHOLE,
  status: oneOf(
    SETTLEMENT_STATUSES,
    '`recorded` until an operator marks the transfer as made (`manual_paid`) or rejected ' +
      '(`failed`).',
  ),
  triggered_by: oneOf(SETTLEMENT_TRIGGERS, 'The daily sweep (`auto`), or an operator.'),
  bank_name: bank,
  bank_account_no: bank,
  bank_account_name: bank,
  notes: described(v.nullable(v.string()), "The operator's note."),
  settled_at: described(v.nullable(TIME), 'When it was marked `manual_paid`.'),
  created_at: TIME,
  bank_reference: v.optional(
    described(
      v.nullable(v.string()),
      'The transfer at our bank, once it is paid. Only with `include=payout`. One debit for ' +
        'many payouts is named `<reference>#<line>`.',
    ),
  ),
  batch: v.optional(
    described(v.nullable(WHOLE), 'The number of the payout batch. Only with `include=payout`.'),
  ),
})

/** The `data` object of a settlement's events (design section 8). */
export const SettlementDataSchema = v.object({
  ...v.omit(SettlementDtoSchema, ['bank_reference', 'batch']).entries,
  bank_reference: v.optional(text('The transfer at our bank. Only of `settlement.paid`.')),
})
export type SettlementData = v.InferOutput<typeof SettlementDataSchema>

export type SettlementDto = v.InferOutput<typeof SettlementDtoSchema>
