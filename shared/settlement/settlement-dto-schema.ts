import * as v from 'valibot'
import { SETTLEMENT_STATUSES, SETTLEMENT_TRIGGERS } from './settlement.ts'

const time = v.pipe(v.string(), v.isoTimestamp())

const bank = v.pipe(
  v.nullable(v.string()),
  v.description('As registered when the settlement was recorded.'),
)

/** The settlement object (spec 2.3), as a type and for the API description only. */
export const SettlementDtoSchema = v.object({
  id: v.pipe(v.string(), v.uuid()),
  client_id: v.pipe(v.string(), v.uuid()),
  period_start: v.pipe(
    time,
    v.description(
      'The start of its period, which includes this time. Each of its entries has ' +
        'period_start <= eligible_at - 24 h < period_end. For a payment that is posted within a ' +
        'day, eligible_at - 24 h is its paid_at.',
    ),
  ),
  period_end: v.pipe(time, v.description('The end of its period. The period excludes this time.')),
  gross_minor: amount('Sum of `notional_minor` of its entries.'),
  xendit_fees_minor: amount("Sum of the provider's actual fees of its entries."),
  hexolus_markup_minor: amount("Sum of the gateway's markups of its entries."),
  net_minor: amount('The amount of the payout: gross less fees and markups.'),
  currency: v.literal('IDR'),
  payment_count: v.pipe(v.number(), v.integer()),
  status: v.pipe(
    v.picklist(SETTLEMENT_STATUSES),
    v.description(
      '`recorded` until an operator marks the transfer as made (`manual_paid`) or rejected ' +
        '(`failed`).',
    ),
  ),
  triggered_by: v.pipe(
    v.picklist(SETTLEMENT_TRIGGERS),
    v.description('The daily sweep (`auto`), or an operator.'),
  ),
  bank_name: bank,
  bank_account_no: bank,
  bank_account_name: bank,
  notes: v.pipe(v.nullable(v.string()), v.description("The operator's note.")),
  settled_at: v.pipe(v.nullable(time), v.description('When it was marked `manual_paid`.')),
  created_at: time,
  bank_reference: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description(
        'The transfer at our bank, once it is paid. Only with `include=payout`. One debit for ' +
          'many payouts is named `<reference>#<line>`.',
      ),
    ),
  ),
  batch: v.optional(
    v.pipe(
      v.nullable(v.pipe(v.number(), v.integer())),
      v.description('The number of the payout batch. Only with `include=payout`.'),
    ),
  ),
})

function amount(text: string) {
  return v.pipe(v.number(), v.integer(), v.description(text))
}

/** The `data` object of a settlement's events (design section 8). */
export const SettlementDataSchema = v.object({
  ...v.omit(SettlementDtoSchema, ['bank_reference', 'batch']).entries,
  bank_reference: v.optional(
    v.pipe(v.string(), v.description('The transfer at our bank. Only of `settlement.paid`.')),
  ),
})
export type SettlementData = v.InferOutput<typeof SettlementDataSchema>

export type SettlementDto = v.InferOutput<typeof SettlementDtoSchema>
