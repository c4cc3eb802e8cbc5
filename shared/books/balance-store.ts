import * as v from 'valibot'
import { RegisteredSchema } from '../client/client-register.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { bookDay } from '../journal/day-totals.ts'
import { MinorSchema } from '../money.ts'
import { syncJobKey } from '../table/keys.ts'
import { put, unchanged } from '../table/step.ts'
import { addMs, HOUR_MS, TimestampSchema } from '../time.ts'

/** A look at all clients that a later run continues. */
const LookSchema = v.object({
  at: TimestampSchema,
  position: v.optional(RegisteredSchema),
  /** At the provider, of the clients that were read. */
  sumMinor: MinorSchema,
  /** When their oldest open payment was paid. */
  openSince: v.optional(TimestampSchema),
})
export type Look = v.InferOutput<typeof LookSchema>

const QuestionSchema = v.object({
  at: TimestampSchema,
  day: v.string(),
  balanceMinor: MinorSchema,
  /** Of the sums that were seen. */
  lowMinor: v.optional(MinorSchema),
  highMinor: v.optional(MinorSchema),
  looks: v.number(),
  look: v.optional(LookSchema),
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
export type StoredBalance = v.InferOutput<typeof BalanceSchema>

const NO_BALANCE: StoredBalance = { version: 0, gaps: [] }

const balanceKey = syncJobKey('balance')

export async function readBalance(deps: TableDeps) {
  return v.parse(v.optional(BalanceSchema, NO_BALANCE), await deps.table.get(balanceKey))
}

export async function keepBalance(deps: TableDeps, read: StoredBalance, next: StoredBalance) {
  const isAsRead = unchanged('version', read.version === 0 ? undefined : read.version)
  const row = { ...next, version: read.version + 1 }
  return (await deps.table.write(put(balanceKey, row, isAsRead))).applied
}

/**
 * Alerts when a day had no comparison. The schedule of audits calls this daily, because the
 * schedule of compare-balance cannot tell that it is off itself.
 */
export async function alertUncompared(deps: Pick<Deps, 'table' | 'alerts' | 'now'>) {
  const { version, gaps, question } = await readBalance(deps)
  const { day = '' } = gaps.at(-1) ?? {}
  // A comparison is made in the first hours of each day.
  if (version === 0 || day >= bookDay(addMs(deps.now(), -6 * HOUR_MS))) return
  await deps.alerts.publish({
    kind: 'balance.gap',
    subject: 'provider',
    message:
      `The provider's own balance has not been compared with the journal since ${day || 'the start'} ` +
      `(last asked: ${question?.at ?? 'not since'}). Check that compare-balance and ` +
      'sync-provider-transactions run, and the key may read the balance.',
  })
}
