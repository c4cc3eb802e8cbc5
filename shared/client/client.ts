import * as v from 'valibot'
import { ClientIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { TimestampSchema } from '../time.ts'

export const BankSchema = v.object({
  bankName: v.string(),
  bankAccountNo: v.string(),
  bankAccountName: v.string(),
  since: TimestampSchema,
  /**
   * The details replaced others, or came after the first credit. A payout to new ones needs a
   * confirmation.
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
  payoutHold: v.optional(v.string()),
  endpointCount: v.optional(v.number()),
  createdAt: TimestampSchema,
})
export type Client = v.InferOutput<typeof ClientSchema>

/** The roles of the API may not read the bank details. */
export const CallerSchema = v.pick(ClientSchema, [
  'clientId',
  'name',
  'enabled',
  'returnUrl',
  'rateLimitPerSecond',
])
export type Caller = v.InferOutput<typeof CallerSchema>
