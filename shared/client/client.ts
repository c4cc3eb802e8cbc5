import * as v from 'valibot'
import { ClientIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { TimestampSchema } from '../time.ts'
import { LedgerPartsSchema } from './ledger-parts.ts'

export const BankSchema = v.object({
  bankName: v.string(),
  bankAccountNo: v.string(),
  bankAccountName: v.string(),
  /** When it was entered. */
  since: TimestampSchema,
  /** It replaced other details, or came after the first credit. While it is new, a payout needs a confirmation. */
  isChange: v.optional(v.boolean()),
})
export type Bank = v.InferOutput<typeof BankSchema>
export type BankAccount = Omit<Bank, 'since' | 'isChange'>

/** A merchant: the tenant of every request. */
export const ClientSchema = v.object({
  clientId: ClientIdSchema,
  name: v.string(),
  enabled: v.boolean(),
  /** A settlement is made only when its net exceeds this. */
  settlementFloorMinor: MinorSchema,
  bank: v.optional(BankSchema),
  /** Bank details were removed: the next ones are not the first. */
  hadBank: v.optional(v.boolean()),
  returnUrl: v.optional(v.string()),
  rateLimitPerSecond: v.optional(v.number()),
  /** Why its settlements must not be paid out now. */
  payoutHold: v.optional(v.string()),
  /** One part unless it says more. */
  ledgerParts: v.optional(LedgerPartsSchema),
  createdAt: TimestampSchema,
})
export type Client = v.InferOutput<typeof ClientSchema>
