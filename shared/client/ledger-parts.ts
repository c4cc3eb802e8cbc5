import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { type PaymentId, partOf } from '../ids.ts'
import { addMs, MINUTE_MS, SECOND_MS, type Timestamp, TimestampSchema } from '../time.ts'

/** Over how many partitions of the table a client's payments are spread. The window says the same to whoever reads. */
export const LedgerPartsSchema = v.object({
  number: v.number(),
  /** In force until `from`. */
  before: v.number(),
  from: TimestampSchema,
})
export type LedgerParts = v.InferOutput<typeof LedgerPartsSchema>

type Parted = { readonly ledgerParts?: LedgerParts | undefined }

/**
 * A reader that began before the number was written asks too few parts. So none is used before every such reader is done:
 * a request takes half a minute, and clocks differ by some seconds. What reads for longer reads what is older.
 */
const IN_FORCE_AFTER_MS = MINUTE_MS
/** A number that is not written by then is made anew: what is left of the minute is for those readers. */
const FRESH_MS = 5 * SECOND_MS

export const ledgerPartsOf = ({ ledgerParts }: Parted): number => ledgerParts?.number ?? 1

const inForce = ({ ledgerParts }: Parted, now: Timestamp): number =>
  ledgerParts && now < ledgerParts.from ? ledgerParts.before : (ledgerParts?.number ?? 1)

/**
 * The part that a payment claimed now belongs to for ever; undefined for the first. A client read some time ago may have
 * fewer parts than there are: those it has are read by everybody.
 */
export const partForClaim = (client: Parted, paymentId: PaymentId, now: Timestamp): number | undefined =>
  partOf(paymentId, inForce(client, now)) || undefined

/** The parts of a client that is born with so many: nobody can have read fewer. */
export const initialParts = (number: number | undefined, createdAt: Timestamp): LedgerParts | undefined =>
  number === undefined || number === 1 ? undefined : { number, before: number, from: createdAt }

/** A client's parts when it shall have so many: the same, or more from a minute on. Throws 422 for fewer. */
export const raisedParts = (
  deps: Pick<Deps, 'now'>,
  client: Parted,
  number: number | undefined,
): LedgerParts | undefined => {
  const current = ledgerPartsOf(client)
  if (number === undefined || number === current) return client.ledgerParts
  if (number < current) {
    const reason = `can only grow: it is ${current}`
    throw invalid(`ledger_parts ${reason}`, { ledger_parts: [reason] }, 'Payments stay in the part they were made in.')
  }
  const now = deps.now()
  return { number, before: inForce(client, now), from: addMs(now, IN_FORCE_AFTER_MS) }
}

/** Until when a number that was raised now may be written. */
export const partsFreshUntil = ({ now }: Pick<Deps, 'now'>): Timestamp => addMs(now(), FRESH_MS)
