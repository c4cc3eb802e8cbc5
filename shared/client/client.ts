import * as v from 'valibot'
import { invalid } from '../errors.ts'
import { ClientIdSchema, type PaymentId, partOf } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { addMs, MINUTE_MS, SECOND_MS, type Timestamp, TimestampSchema } from '../time.ts'

export const BankSchema = v.object({
  bankName: v.string(),
  bankAccountNo: v.string(),
  bankAccountName: v.string(),
  since: TimestampSchema,
  /**
   * The details replaced others, or came after the first credit. While they are new, a payout needs
   * a confirmation.
   */
  isChange: v.optional(v.boolean()),
})
export type Bank = v.InferOutput<typeof BankSchema>
export type BankAccount = Omit<Bank, 'since' | 'isChange'>

export const ClientSchema = v.object({
  clientId: ClientIdSchema,
  name: v.string(),
  enabled: v.boolean(),
  /** A settlement is made only when its net exceeds this floor. */
  settlementFloorMinor: MinorSchema,
  bank: v.optional(BankSchema),
  /** Bank details were removed, so the next details are not the first. */
  hadBank: v.optional(v.boolean()),
  returnUrl: v.optional(v.string()),
  rateLimitPerSecond: v.optional(v.number()),
  /** Why the client's settlements must not be paid out now. */
  payoutHold: v.optional(v.string()),
  /**
   * The number of table partitions for the client's payments; absent: one. `before`: in force until
   * `from`.
   */
  ledgerParts: v.optional(
    v.object({ number: v.number(), before: v.number(), from: TimestampSchema }),
  ),
  createdAt: TimestampSchema,
})
export type Client = v.InferOutput<typeof ClientSchema>

type PartsOfClient = Pick<Client, 'ledgerParts'>
type LedgerParts = Client['ledgerParts']

/**
 * A number that is not written within this time is computed again. The rest of the minute is for
 * older readers.
 */
export const PARTS_FRESH_MS = 5 * SECOND_MS

export function ledgerPartsOf({ ledgerParts }: PartsOfClient): number {
  return ledgerParts?.number ?? 1
}

/**
 * The permanent part of a payment that is claimed now; undefined for the first part. Readers ask
 * all parts.
 */
export function partForClaim(
  client: PartsOfClient,
  paymentId: PaymentId,
  now: Timestamp,
): number | undefined {
  return partOf(paymentId, partsInForce(client, now)) || undefined
}

function partsInForce({ ledgerParts }: PartsOfClient, now: Timestamp): number {
  return ledgerParts && now < ledgerParts.from ? ledgerParts.before : ledgerPartsOf({ ledgerParts })
}

/** The parts of a client that is created with several: no reader can have asked fewer. */
export function initialParts(number: number | undefined, createdAt: Timestamp): LedgerParts {
  return number === undefined || number === 1
    ? undefined
    : { number, before: number, from: createdAt }
}

/**
 * A client's parts after a change: the same number, or more a minute later. Throws 422 for fewer.
 */
export function raisedParts(
  client: PartsOfClient,
  number: number | undefined,
  now: Timestamp,
): LedgerParts {
  const current = ledgerPartsOf(client)
  if (number === undefined || number === current) return client.ledgerParts
  if (number < current) {
    const reason = `can only grow; it is ${current}`
    throw invalid(
      `ledger_parts ${reason}`,
      { ledger_parts: [reason] },
      'A payment stays in its part.',
    )
  }
  // By then every reader that began before the number was written has ended (docs/decisions.md).
  return { number, before: partsInForce(client, now), from: addMs(now, MINUTE_MS) }
}
