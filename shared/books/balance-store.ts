import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { MinorSchema } from '../money.ts'
import { syncJobKey } from '../table/keys.ts'
import { put, unchanged } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'

const QuestionSchema = v.object({
  at: TimestampSchema,
  day: v.string(),
  balanceMinor: MinorSchema,
  /** Of the sums that were seen. */
  lowMinor: v.optional(MinorSchema),
  highMinor: v.optional(MinorSchema),
  looks: v.number(),
  /** Of the sync's head, at the last look. */
  round: v.number(),
  waiting: v.array(v.string()),
})
export type Question = v.InferOutput<typeof QuestionSchema>

const BalanceSchema = v.object({
  version: v.number(),
  question: v.optional(QuestionSchema),
  /** Of the last days, the newest last. */
  gaps: v.array(v.object({ day: v.string(), gapMinor: MinorSchema })),
  /** When money in transit was told last. */
  transitToldAt: v.optional(TimestampSchema),
})
/** What was asked and compared of the provider's own balance. */
export type StoredBalance = v.InferOutput<typeof BalanceSchema>

const NO_BALANCE: StoredBalance = { version: 0, gaps: [] }

const balanceKey = syncJobKey('balance')

export async function readBalance(deps: TableDeps): Promise<StoredBalance> {
  return v.parse(v.optional(BalanceSchema, NO_BALANCE), await deps.table.get(balanceKey))
}

/** Refused when another run was first. */
export async function keepBalance(
  deps: TableDeps,
  read: StoredBalance,
  next: StoredBalance,
): Promise<boolean> {
  const isAsRead = unchanged('version', read.version === 0 ? undefined : read.version)
  const row = { ...next, version: read.version + 1 }
  return (await deps.table.write(put(balanceKey, row, isAsRead))).applied
}
