import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { addTotals, DayTotalSchema, totalsOf } from '../journal/day-totals.ts'
import { type Entry, fieldsText, paymentsIn } from '../journal/entry.ts'
import { less, type Minor, MinorSchema, plus, ZERO } from '../money.ts'
import type { Timestamp } from '../time.ts'

/** The sums of a settlement's entries (spec 2.3), and the figures that the payout checks. */
export const EntrySumsSchema = v.object({
  grossMinor: MinorSchema,
  providerFeesMinor: MinorSchema,
  markupMinor: MinorSchema,
  netMinor: MinorSchema,
  paymentCount: v.number(),
  /** The sum of its re-credits, which were available before. */
  recreditedMinor: MinorSchema,
  /** Nets that no settled row of the provider proves. */
  unprovenMinor: MinorSchema,
  entryCount: v.number(),
  digest: v.string(),
  totals: v.array(DayTotalSchema),
})
export type EntrySums = v.InferOutput<typeof EntrySumsSchema>

/** The empty sums. `digest`: of the client's previous settlement, or empty. */
export const noSums = (digest: string): EntrySums => ({
  grossMinor: ZERO,
  providerFeesMinor: ZERO,
  markupMinor: ZERO,
  netMinor: ZERO,
  paymentCount: 0,
  recreditedMinor: ZERO,
  unprovenMinor: ZERO,
  entryCount: 0,
  digest,
  totals: [],
})

/**
 * The part of an entry that no settled row proves: a payment with an assumed fee, a correction, a write-off, the
 * content of a re-credit. The late row of an assumed payment in the same window removes it.
 */
export const unprovenIn = (entry: Entry, start: Timestamp): Minor => {
  switch (entry.type) {
    case 'payment':
      return entry.providerTransactionId === undefined ? entry.netMinor : ZERO
    case 'late_row':
      return entry.provenEligibleAt !== undefined && entry.provenEligibleAt >= start
        ? less(ZERO, entry.provenMinor ?? ZERO)
        : ZERO
    case 'recredit':
      return entry.provenMinor === undefined ? ZERO : less(entry.netMinor, entry.provenMinor)
    case 'correction':
    case 'written_off':
      return entry.netMinor
    case 'refund':
    case 'chargeback':
    case 'reversal':
    case 'dispute_won':
    case 'recovered':
      return ZERO
  }
}

const addEntry = (sums: EntrySums, entry: Entry, start: Timestamp): EntrySums => ({
  ...sums,
  grossMinor: plus(sums.grossMinor, entry.grossMinor),
  providerFeesMinor: plus(sums.providerFeesMinor, entry.feeMinor),
  markupMinor: plus(sums.markupMinor, entry.markupMinor),
  netMinor: plus(sums.netMinor, entry.netMinor),
  paymentCount: sums.paymentCount + paymentsIn(entry),
  recreditedMinor: plus(sums.recreditedMinor, entry.type === 'recredit' ? entry.netMinor : ZERO),
  unprovenMinor: plus(sums.unprovenMinor, unprovenIn(entry, start)),
  entryCount: sums.entryCount + 1,
})

/** The sums with one more block of entries, in the order of the journal. `start`: of the window. */
export const addBlock = (sums: EntrySums, entries: readonly Entry[], start: Timestamp): EntrySums => ({
  ...entries.reduce((sum, entry) => addEntry(sum, entry, start), sums),
  digest: digestBlock(sums.digest, entries),
  totals: [...addTotals(sums.totals, totalsOf(entries))],
})

/** The digest over one block and the previous digest. An empty block leaves it unchanged. */
export const digestBlock = (before: string, entries: readonly Entry[]): string => {
  if (entries.length === 0) return before
  const hash = createHash('sha256').update(before)
  for (const entry of entries) hash.update('\n').update(fieldsText(entry))
  return hash.digest('hex')
}
