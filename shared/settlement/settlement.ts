import * as v from 'valibot'
import { BankSchema } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { ClientIdSchema, SettlementIdSchema } from '../ids.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { addMs, DAY_MS, type Timestamp, TimestampSchema } from '../time.ts'
import { EntrySumsSchema } from './sum-entries.ts'

export const SETTLEMENT_STATUSES = ['recorded', 'manual_paid', 'failed'] as const
export const SETTLEMENT_TRIGGERS = ['manual', 'auto'] as const

/** One batched payout of a window's entries (spec 2.3). */
export const SettlementSchema = v.object({
  settlementId: SettlementIdSchema,
  clientId: ClientIdSchema,
  /** The swept window of `eligible_at`, half-open. */
  sweptFrom: TimestampSchema,
  sweptUntil: TimestampSchema,
  ...EntrySumsSchema.entries,
  currency: v.literal('IDR'),
  status: v.picklist(SETTLEMENT_STATUSES),
  triggeredBy: v.picklist(SETTLEMENT_TRIGGERS),
  previousId: v.optional(SettlementIdSchema),
  bank: v.optional(BankSchema),
  notes: v.optional(v.string()),
  /** The last batch that claimed it, which may be cancelled. */
  batch: v.optional(v.number()),
  /** Unique among settlements. */
  bankReference: v.optional(v.string()),
  settledAt: v.optional(TimestampSchema),
  /** When the net of the failed settlement became available again. */
  recreditedAt: v.optional(TimestampSchema),
  /** When the transfer of the paid settlement came back. */
  returnedAt: v.optional(TimestampSchema),
  createdAt: TimestampSchema,
})
export type Settlement = v.InferOutput<typeof SettlementSchema>

/** An entry is eligible this long after its payment was paid (spec 3.2, rule 2). */
export const ELIGIBLE_AGE_MS = DAY_MS

/** The swept window less 24 hours. */
export function periodOf({ sweptFrom, sweptUntil }: Settlement) {
  return { start: addMs(sweptFrom, -ELIGIBLE_AGE_MS), end: addMs(sweptUntil, -ELIGIBLE_AGE_MS) }
}

export function hasSwept({ sweptFrom, sweptUntil }: Settlement, eligibleAt: Timestamp) {
  return eligibleAt >= sweptFrom && eligibleAt < sweptUntil
}

/** The payout does not read so many entries again: the audit after the record has judged them. */
export function isLong(
  { stage }: Pick<Deps, 'stage'>,
  { entryCount }: Pick<Settlement, 'entryCount'>,
) {
  return entryCount > (stage.historySteps ?? HISTORY_STEPS).atOnce
}
