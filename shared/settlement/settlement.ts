import * as v from 'valibot'
import { BankSchema } from '../client/client.ts'
import { ClientIdSchema, SettlementIdSchema } from '../ids.ts'
import { MinorSchema, ZERO } from '../money.ts'
import { addMs, DAY_MS, type Timestamp, TimestampSchema } from '../time.ts'
import { lessSums, type Sums } from './sums.ts'

export const SETTLEMENT_STATUSES = ['recorded', 'manual_paid', 'failed'] as const
export const SETTLEMENT_TRIGGERS = ['manual', 'auto'] as const

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
  triggeredBy: v.picklist(SETTLEMENT_TRIGGERS),
  /** As registered when it was recorded. */
  bank: v.optional(BankSchema),
  notes: v.optional(v.string()),
  settledAt: v.optional(TimestampSchema),
  /** When the net of a failed one went back to available; once. */
  recreditedAt: v.optional(TimestampSchema),
  /** The failed settlement whose recredited funds this one pays out: same window, same sums. */
  replaces: v.optional(SettlementIdSchema),
  createdAt: TimestampSchema,
  /** How often money of its payments went back since it was recorded, whole or in part; parts known before are in it. */
  reversedCount: v.optional(v.number()),
  /** How many of these came again. */
  undoneCount: v.optional(v.number()),
  /** Of payments that went back whole since: they are still in the sums above. */
  reversedGrossMinor: v.optional(MinorSchema),
  reversedProviderFeesMinor: v.optional(MinorSchema),
  reversedMarkupMinor: v.optional(MinorSchema),
  reversedNetMinor: v.optional(MinorSchema),
  reversedPaymentIds: v.optional(v.set(v.string())),
  /** When the last of them did. */
  reversedAt: v.optional(TimestampSchema),
  /** What is owed for them: a re-credit leaves it out. */
  receivableIds: v.optional(v.set(v.string())),
})
export type Settlement = v.InferOutput<typeof SettlementSchema>

/** The sums of the payments that went back whole since it was recorded. */
export const reversedSums = (settlement: Settlement): Sums => ({
  grossMinor: settlement.reversedGrossMinor ?? ZERO,
  providerFeesMinor: settlement.reversedProviderFeesMinor ?? ZERO,
  markupMinor: settlement.reversedMarkupMinor ?? ZERO,
  netMinor: settlement.reversedNetMinor ?? ZERO,
  paymentCount: settlement.reversedPaymentIds?.size ?? 0,
})

/**
 * What an operator must have looked at before it is paid out: the number of reversals, if any of them stands. It never goes
 * down as long as one does, so that whoever has seen one does not answer for another.
 */
export const reversalsToConfirm = ({ reversedCount = 0, undoneCount = 0 }: Settlement): number =>
  reversedCount > undoneCount ? reversedCount : 0

/** What would be paid out without them. */
export const remainingSums = (settlement: Settlement): Sums => lessSums(settlement, reversedSums(settlement))

/** How long replaced bank details are new: time for the merchant to hear of it and object. */
const NEW_BANK_MS = 3 * DAY_MS

/** Until when the account is new; undefined of one given first, which replaced none. */
export const bankIsNewUntil = ({ bank }: Settlement): Timestamp | undefined =>
  bank?.replaces ? addMs(bank.since, NEW_BANK_MS) : undefined

/** A settlement of which nothing has gone back. */
export const NOTHING_REVERSED = {
  reversedCount: undefined,
  undoneCount: undefined,
  reversedGrossMinor: undefined,
  reversedProviderFeesMinor: undefined,
  reversedMarkupMinor: undefined,
  reversedNetMinor: undefined,
  reversedPaymentIds: undefined,
  reversedAt: undefined,
  receivableIds: undefined,
} as const satisfies Partial<Settlement>
