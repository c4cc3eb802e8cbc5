import * as v from 'valibot'
import { ClientIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { addMs, HOUR_MS, type Timestamp, TimestampSchema } from '../time.ts'
import { LedgerPartsSchema } from './ledger-parts.ts'

export const BankSchema = v.object({
  bankName: v.string(),
  bankAccountNo: v.string(),
  bankAccountName: v.string(),
  /** When it was entered. */
  since: TimestampSchema,
  /** Another account was paid out to before. */
  replaces: v.optional(v.boolean()),
})
export type Bank = v.InferOutput<typeof BankSchema>
/** As an operator enters it. */
export type BankAccount = Omit<Bank, 'since' | 'replaces'>

/** A merchant: the tenant every request is scoped to. */
export const ClientSchema = v.object({
  clientId: ClientIdSchema,
  name: v.string(),
  enabled: v.boolean(),
  /** A settlement is made only when its net exceeds this. */
  settlementFloorMinor: MinorSchema,
  bank: v.optional(BankSchema),
  /** Details were taken out: the next ones are not the first. */
  hadBank: v.optional(v.boolean()),
  returnUrl: v.optional(v.string()),
  rateLimitPerSecond: v.optional(v.number()),
  /** One part unless it says more. */
  ledgerParts: v.optional(LedgerPartsSchema),
  createdAt: TimestampSchema,
})
export type Client = v.InferOutput<typeof ClientSchema>

/**
 * Where a client's first window begins: so long before its birth that no machine's clock is far enough behind to put a
 * payment of it earlier.
 */
export const firstWindowStart = ({ createdAt }: Pick<Client, 'createdAt'>): Timestamp => addMs(createdAt, -HOUR_MS)

const SHORTEST_NAME = 3
const LONGEST_NAME = 50

/**
 * The name a bank shows to whoever pays into a virtual account. Banks take letters and spaces only; a name with too
 * little of that left gives way to the stage's default.
 */
export const displayNameOf = (clientName: string, fallback: string): string => {
  const plain = clientName
    .normalize('NFKD')
    .replace(/[^A-Za-z ]/g, '')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
    .trim()
  return plain.length >= SHORTEST_NAME ? plain : fallback
}
