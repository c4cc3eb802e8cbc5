import * as v from 'valibot'
import { BankSchema } from '../client/client.ts'
import { ClientIdSchema, SettlementIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { TimestampSchema } from '../time.ts'

export const SETTLEMENT_STATUSES = ['recorded', 'manual_paid', 'failed'] as const

/** One batched payout of a window's payments (spec 2.3). */
export const SettlementSchema = v.object({
  settlementId: SettlementIdSchema,
  clientId: ClientIdSchema,
  periodStart: TimestampSchema,
  periodEnd: TimestampSchema,
  grossMinor: MinorSchema,
  providerFeesMinor: MinorSchema,
  markupMinor: MinorSchema,
  netMinor: MinorSchema,
  currency: v.literal('IDR'),
  paymentCount: v.number(),
  status: v.picklist(SETTLEMENT_STATUSES),
  triggeredBy: v.picklist(['manual', 'auto']),
  /** As registered when it was recorded. */
  bank: v.optional(BankSchema),
  notes: v.optional(v.string()),
  settledAt: v.optional(TimestampSchema),
  /** When the net of a failed one went back to available; once. */
  recreditedAt: v.optional(TimestampSchema),
  /** The failed settlement whose recredited funds this one pays out: same window, same sums. */
  replaces: v.optional(SettlementIdSchema),
  createdAt: TimestampSchema,
})
export type Settlement = v.InferOutput<typeof SettlementSchema>

/** The settlement object (spec 2.3): null where there is no value yet. */
export const toSettlementDto = (settlement: Settlement) => ({
  id: settlement.settlementId,
  client_id: settlement.clientId,
  period_start: settlement.periodStart,
  period_end: settlement.periodEnd,
  gross_minor: settlement.grossMinor,
  xendit_fees_minor: settlement.providerFeesMinor,
  hexolus_markup_minor: settlement.markupMinor,
  net_minor: settlement.netMinor,
  currency: settlement.currency,
  payment_count: settlement.paymentCount,
  status: settlement.status,
  triggered_by: settlement.triggeredBy,
  bank_name: settlement.bank?.bankName ?? null,
  bank_account_no: settlement.bank?.bankAccountNo ?? null,
  bank_account_name: settlement.bank?.bankAccountName ?? null,
  notes: settlement.notes ?? null,
  settled_at: settlement.settledAt ?? null,
  created_at: settlement.createdAt,
})
