import * as v from 'valibot'
import { BankSchema } from '../client/client.ts'
import { ClientIdSchema, SettlementIdSchema } from '../ids.ts'
import { addMs, DAY_MS, type Timestamp, TimestampSchema } from '../time.ts'
import { EntrySumsSchema } from './entry-sums.ts'

export const SETTLEMENT_STATUSES = ['recorded', 'manual_paid', 'failed'] as const
export const SETTLEMENT_TRIGGERS = ['manual', 'auto'] as const

/** One batched payout of a window's entries (spec 2.3). */
export const SettlementSchema = v.object({
  settlementId: SettlementIdSchema,
  clientId: ClientIdSchema,
  /** The swept window of `eligible_at`: start included, end excluded. The public period is 24 hours earlier. */
  sweptFrom: TimestampSchema,
  sweptUntil: TimestampSchema,
  ...EntrySumsSchema.entries,
  currency: v.literal('IDR'),
  status: v.picklist(SETTLEMENT_STATUSES),
  triggeredBy: v.picklist(SETTLEMENT_TRIGGERS),
  /** The client's settlement before, over whose digest this one's begins. */
  previousId: v.optional(SettlementIdSchema),
  /** As registered when it was recorded. */
  bank: v.optional(BankSchema),
  notes: v.optional(v.string()),
  /** Of the bank transfer; no other settlement has it. */
  bankReference: v.optional(v.string()),
  settledAt: v.optional(TimestampSchema),
  /** When the net of a failed one became available again; once. */
  recreditedAt: v.optional(TimestampSchema),
  createdAt: TimestampSchema,
})
export type Settlement = v.InferOutput<typeof SettlementSchema>

/** An entry is eligible this long after its payment was paid (spec 3.2, rule 2). */
export const ELIGIBLE_AGE_MS = DAY_MS

/** The public period of a settlement: the swept window of `eligible_at` less 24 hours. */
export const periodOf = ({ sweptFrom, sweptUntil }: Settlement) => ({
  start: addMs(sweptFrom, -ELIGIBLE_AGE_MS),
  end: addMs(sweptUntil, -ELIGIBLE_AGE_MS),
})

/** How long new bank details are young: time for the merchant to hear of them and object. */
export const NEW_BANK_MS = 3 * DAY_MS

/** Until when the account is new; undefined of details that a client had before its first credit. */
export const bankIsNewUntil = ({ bank }: Pick<Settlement, 'bank'>): Timestamp | undefined =>
  bank?.isChange ? addMs(bank.since, NEW_BANK_MS) : undefined
