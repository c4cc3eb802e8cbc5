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
  'returned',
  'written_off',
  'correction',
] as const
export type EntryType = (typeof ENTRY_TYPES)[number]

/** The client's figures: net = gross - fee - markup. */
export const CLIENT_SIDES = ['grossMinor', 'feeMinor', 'markupMinor', 'netMinor'] as const
/**
 * What an entry adds to our account at the provider (by provider rows alone) and to our bank
 * account; to what the provider will still credit less what it will bill (transit); to the money in
 * suspense; and to what the house bears (cost) and cannot explain (other).
 */
export const HOUSE_SIDES = [
  'providerMinor',
  'bankMinor',
  'transitMinor',
  'suspenseMinor',
  'costMinor',
  'otherMinor',
] as const
export const ENTRY_SIDES = [...CLIENT_SIDES, ...HOUSE_SIDES] as const

export const SidesSchema = v.object(v.entriesFromList(ENTRY_SIDES, MinorSchema))

/** The sums of a failed settlement, which its `recredit` carries into the next settlement. */
const CarriedSchema = v.object({
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
  /** Of a `returned`: the paid settlement whose transfer came back. */
  returnedSettlementId: v.optional(SettlementIdSchema),
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

export type Legs = Readonly<Pick<Entry, (typeof HOUSE_SIDES)[number]>>

export const NO_LEGS: Legs = {
  providerMinor: ZERO,
  bankMinor: ZERO,
  transitMinor: ZERO,
  suspenseMinor: ZERO,
  costMinor: ZERO,
  otherMinor: ZERO,
}

/** An absent leg is zero. Throws unless the figures add up and the sides are equal. */
export function newEntry(entry: Omit<Entry, keyof Legs> & Partial<Legs>): Entry {
  const whole = { ...NO_LEGS, ...entry }
  assertBalanced(whole)
  if (whole.carried) assertBalanced(whole.carried)
  assertEqualSides(whole)
  return whole
}

/**
 * What the left side exceeds the right by, of provider + bank + transit = net + suspense + markup +
 * cost + other. Each leg is computed by itself (`legs.ts`), so any wrong leg is seen here.
 */
export function excessOf(sides: Legs & Partial<Pick<Entry, 'netMinor' | 'markupMinor'>>): number {
  const { netMinor = ZERO, markupMinor = ZERO } = sides
  return (
    sides.providerMinor +
    sides.bankMinor +
    sides.transitMinor -
    (netMinor + sides.suspenseMinor + markupMinor + sides.costMinor + sides.otherMinor)
  )
}

export function assertEqualSides(sides: Parameters<typeof excessOf>[0]): void {
  assertInvariant(excessOf(sides) === 0, 'the sides of an entry are not equal')
}

export type Figures = Readonly<Pick<Entry, (typeof CLIENT_SIDES)[number]>>

export function assertBalanced(figures: Figures): void {
  assertInvariant(addUp(figures), 'figures do not add up: gross - fee - markup is not net')
}

function addUp({ grossMinor, feeMinor, markupMinor, netMinor }: Figures) {
  return netOf(grossMinor, feeMinor, markupMinor) === netMinor
}

export function netsOf(entries: readonly Entry[]): Minor {
  return entries.reduce((sum, { netMinor }) => plus(sum, netMinor), ZERO)
}

export function isBalanced(entry: Entry): boolean {
  return excessOf(entry) === 0 && addUp(entry)
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
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, isMap(value) ? fieldsText(value) : value]),
  )
}

/** The table keeps no order of a map's fields. */
function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
