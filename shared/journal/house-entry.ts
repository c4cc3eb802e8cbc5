import * as v from 'valibot'
import { type Minor, MinorSchema, ZERO } from '../money.ts'
import { TimestampSchema } from '../time.ts'
import { houseOf } from './entry.ts'

/** Movements of money that belongs to no client, or not yet to one (design section 12). */
export const HOUSE_ENTRY_TYPES = [
  'suspense',
  'suspense_resolved',
  'suspense_refunded',
  'unmatched',
  'withdrawal',
  'correction',
] as const
export type HouseEntryType = (typeof HOUSE_ENTRY_TYPES)[number]

const side = v.optional(MinorSchema, ZERO)

/** Written once for each provider row and type, never changed. */
export const HouseEntrySchema = v.object({
  type: v.picklist(HOUSE_ENTRY_TYPES),
  transactionId: v.string(),
  /** When the provider made the row; without a row, when the entry was written. */
  rowAt: TimestampSchema,
  postedAt: TimestampSchema,
  providerMinor: side,
  bankMinor: side,
  suspenseMinor: side,
  houseMinor: side,
  suspenseId: v.optional(v.string()),
  /**
   * Of a `correction`: the client whose entry has the other side. Of `suspense`: the client whose payment was paid, if
   * known.
   */
  clientId: v.optional(v.string()),
})
export type HouseEntry = v.InferOutput<typeof HouseEntrySchema>

type Legs = { readonly providerMinor?: Minor; readonly bankMinor?: Minor; readonly suspenseMinor?: Minor }

/** A house entry with its house side: provider + bank = suspense + house. */
export const newHouseEntry = ({
  providerMinor = ZERO,
  bankMinor = ZERO,
  suspenseMinor = ZERO,
  ...entry
}: Omit<HouseEntry, 'providerMinor' | 'bankMinor' | 'suspenseMinor' | 'houseMinor'> & Legs): HouseEntry => {
  const legs = { providerMinor, bankMinor, suspenseMinor }
  return { ...entry, ...legs, houseMinor: houseOf({ ...legs, netMinor: ZERO }) }
}
