import * as v from 'valibot'
import { addTotals, DayTotalSchema, totalsOf } from '../journal/day-totals.ts'
import { digestBlock, type Entry, paymentsIn } from '../journal/entry.ts'
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

const sumOf = (entries: readonly Entry[], amountOf: (entry: Entry) => Minor): Minor =>
  entries.reduce((sum, entry) => plus(sum, amountOf(entry)), ZERO)

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

/** The sums with one more block of entries, in the order of the journal. `start`: of the window. */
export const addBlock = (sums: EntrySums, entries: readonly Entry[], start: Timestamp): EntrySums => ({
  grossMinor: plus(
    sums.grossMinor,
    sumOf(entries, (entry) => entry.grossMinor),
  ),
  providerFeesMinor: plus(
    sums.providerFeesMinor,
    sumOf(entries, (entry) => entry.feeMinor),
  ),
  markupMinor: plus(
    sums.markupMinor,
    sumOf(entries, (entry) => entry.markupMinor),
  ),
  netMinor: plus(
    sums.netMinor,
    sumOf(entries, (entry) => entry.netMinor),
  ),
  paymentCount: entries.reduce((count, entry) => count + paymentsIn(entry), sums.paymentCount),
  recreditedMinor: plus(
    sums.recreditedMinor,
    sumOf(entries, (entry) => (entry.type === 'recredit' ? entry.netMinor : ZERO)),
  ),
  unprovenMinor: plus(
    sums.unprovenMinor,
    sumOf(entries, (entry) => unprovenIn(entry, start)),
  ),
  entryCount: sums.entryCount + entries.length,
  digest: digestBlock(sums.digest, entries),
  totals: [...addTotals(sums.totals, totalsOf(entries))],
})
