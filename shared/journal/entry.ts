import * as v from 'valibot'
import { assertInvariant } from '../errors.ts'
import { PaymentIdSchema, SettlementIdSchema, UuidSchema } from '../ids.ts'
import { less, type Minor, MinorSchema, netOf, plus, ZERO } from '../money.ts'
import { PAYMENT_METHODS } from '../payment-status.ts'
import { TimestampSchema } from '../time.ts'

/** The movements of a client's money (design section 12). */
export const ENTRY_TYPES = [
  'payment',
  'refund',
  'chargeback',
  'reversal',
  'dispute_won',
  'late_row',
  'recredit',
  'recovered',
  'written_off',
  'correction',
] as const
export type EntryType = (typeof ENTRY_TYPES)[number]

/** The client's figures: net = gross - fee - markup. */
export const CLIENT_SIDES = ['grossMinor', 'feeMinor', 'markupMinor', 'netMinor'] as const
/**
 * What an entry adds to our account at the provider (by provider rows alone), to our bank account
 * and to the money in suspense. House: provider + bank - net - suspense.
 */
export const HOUSE_SIDES = ['providerMinor', 'bankMinor', 'suspenseMinor', 'houseMinor'] as const
export const ENTRY_SIDES = [...CLIENT_SIDES, ...HOUSE_SIDES] as const

export const SidesSchema = v.object(v.entriesFromList(ENTRY_SIDES, MinorSchema))

/** The sums of a failed settlement, which its `recredit` carries into the next settlement. */
export const CarriedSchema = v.object({
  ...v.entriesFromList(CLIENT_SIDES, MinorSchema),
  paymentCount: v.number(),
  unprovenMinor: MinorSchema,
})

/** Immutable, and written once in the transaction that moves the client's money. */
export const EntrySchema = v.object({
  entryId: UuidSchema,
  type: v.picklist(ENTRY_TYPES),
  eligibleAt: TimestampSchema,
  /** Never before the end of a window that is summed or swept. */
  postedAt: TimestampSchema,
  ...v.entriesFromList(ENTRY_SIDES, v.optional(MinorSchema, ZERO)),
  paymentId: v.optional(PaymentIdSchema),
  /** Of a `recredit`, whose own figures are zero. Only sums of settlements add what it carries. */
  recreditedSettlementId: v.optional(SettlementIdSchema),
  carried: v.optional(CarriedSchema),
  /** Of a `late_row`: its payment's net and position. */
  provenMinor: v.optional(MinorSchema),
  provenEligibleAt: v.optional(TimestampSchema),
  /** Of an adjustment; only operators see it. */
  adjustmentReference: v.optional(v.string()),
  providerTransactionId: v.optional(v.string()),
  providerSettledAt: v.optional(TimestampSchema),
  externalReference: v.optional(v.string()),
  method: v.optional(v.picklist(PAYMENT_METHODS)),
  channelCode: v.optional(v.string()),
  paidAt: v.optional(TimestampSchema),
})
export type Entry = v.InferOutput<typeof EntrySchema>

export type Legs = Pick<Entry, 'providerMinor' | 'bankMinor' | 'suspenseMinor'>

/** The caller must name the provider leg, so as not to forget it. */
type NewEntry = Omit<Entry, 'houseMinor' | keyof Legs> &
  Partial<Legs> & { readonly providerMinor: Minor | undefined }

/** The house's side: what is left of provider and bank after client and suspense. */
export function houseOf({
  netMinor,
  providerMinor,
  bankMinor,
  suspenseMinor,
}: Legs & Pick<Entry, 'netMinor'>): Minor {
  return less(less(plus(providerMinor, bankMinor), netMinor), suspenseMinor)
}

/** Adds the house side. Throws unless gross - fee - markup is net. */
export function newEntry(entry: NewEntry): Entry {
  assertBalanced(entry)
  if (entry.carried) assertBalanced(entry.carried)
  const { providerMinor = ZERO, bankMinor = ZERO, suspenseMinor = ZERO } = entry
  const whole = { ...entry, providerMinor, bankMinor, suspenseMinor }
  return { ...whole, houseMinor: houseOf(whole) }
}

export type Figures = Readonly<Pick<Entry, (typeof CLIENT_SIDES)[number]>>

export function assertBalanced({ grossMinor, feeMinor, markupMinor, netMinor }: Figures): void {
  assertInvariant(
    netOf(grossMinor, feeMinor, markupMinor) === netMinor,
    'figures do not add up: gross - fee - markup is not net',
  )
}

export function netsOf(entries: readonly Entry[]): Minor {
  return entries.reduce((sum, { netMinor }) => plus(sum, netMinor), ZERO)
}

export function isBalanced(entry: Entry): boolean {
  return (
    entry.houseMinor === houseOf(entry) &&
    netOf(entry.grossMinor, entry.feeMinor, entry.markupMinor) === entry.netMinor
  )
}

/** Entries with zeros for the client are neither shown to merchants nor counted. */
export function isForClient(entry: Entry): boolean {
  return entry.carried !== undefined || CLIENT_SIDES.some((side) => entry[side] !== 0)
}

export function paymentCountOf({ type, carried }: Entry): number {
  return type === 'payment' ? 1 : (carried?.paymentCount ?? 0)
}

/** The client's figures that a settlement adds: of a re-credit what it carries. */
export function settledFigures(entry: Entry): Figures {
  const { grossMinor, feeMinor, markupMinor, netMinor } = entry.carried ?? entry
  return { grossMinor, feeMinor, markupMinor, netMinor }
}

/** Every field with a value, in the order of names: equal records have equal texts. */
export function fieldsText(record: object): string {
  return JSON.stringify(
    Object.entries(record)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

export const NO_FIGURES: Figures = {
  grossMinor: ZERO,
  feeMinor: ZERO,
  markupMinor: ZERO,
  netMinor: ZERO,
}

export function figuresOf(grossMinor: Minor, feeMinor: Minor, markupMinor: Minor): Figures {
  return { grossMinor, feeMinor, markupMinor, netMinor: netOf(grossMinor, feeMinor, markupMinor) }
}

export function lessFigures(a: Figures, b: Figures): Figures {
  return figuresOf(
    less(a.grossMinor, b.grossMinor),
    less(a.feeMinor, b.feeMinor),
    less(a.markupMinor, b.markupMinor),
  )
}
