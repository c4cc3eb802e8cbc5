import * as v from 'valibot'
import { REVERSAL_KINDS } from '../journal/payment-money.ts'
import { MinorSchema } from '../money.ts'
import { TimestampSchema } from '../time.ts'

/**
 * The jobs of the sync. All except the head are due work. A worker claims a job by moving its due time to the end of a
 * lease. It keeps the position with every page and removes the job from due work at the end.
 */

/** The planning position: every row updated before `position` is in a slice or has been read. */
export const HeadSchema = v.object({
  position: TimestampSchema,
  /** Counts planned rounds; it refuses one of two concurrent planners. */
  round: v.number(),
  /** Density of the last slices; it decides the length of the next ones. */
  rowsPerMinute: v.number(),
  /** When the reversals of the last 180 days are read next. */
  reversalsAt: TimestampSchema,
})
export type Head = v.InferOutput<typeof HeadSchema>

const claimed = { id: v.string(), dueAt: TimestampSchema }

/** A time span of provider transactions, both ends included. */
const SliceSchema = v.object({
  ...claimed,
  /** `head`: by update time. `tail`, `reversals`: by creation time. */
  kind: v.picklist(['head', 'tail', 'reversals']),
  from: TimestampSchema,
  to: TimestampSchema,
  category: v.optional(v.string()),
  /** The last transaction of the last page kept. */
  afterId: v.optional(v.string()),
  /** Head: the density, in rows a minute, that decided its length. */
  cutFor: v.optional(v.number(), 0),
  /** Rows read so far in this reading. */
  rows: v.optional(v.number(), 0),
  /** Tail: the number of complete readings. */
  reads: v.optional(v.number(), 0),
  /** Tail: the latest expected settlement of the open transactions in this reading. */
  openUntil: v.optional(TimestampSchema),
})
export type Slice = v.InferOutput<typeof SliceSchema>

/** A transaction that could not be decided, for example without a provider answer. It is checked again alone. */
export const OpenTransactionSchema = v.object({
  ...claimed,
  kind: v.literal('open'),
  /** The number of checks without a result. */
  tries: v.number(),
  transaction: v.object({
    type: v.picklist(['payment', 'return', 'correction', 'account', 'unknown']),
    transactionId: v.string(),
    providerPaymentId: v.string(),
    isCaptured: v.optional(v.literal(true)),
    paymentRequestId: v.optional(v.string()),
    reference: v.string(),
    status: v.picklist(['success', 'pending', 'failed', 'reversed', 'unknown']),
    returns: v.optional(v.picklist(REVERSAL_KINDS)),
    comesAgain: v.optional(v.literal(true)),
    isWithdrawal: v.optional(v.literal(true)),
    currency: v.string(),
    amountMinor: MinorSchema,
    providerMinor: MinorSchema,
    disputedMinor: v.optional(MinorSchema),
    keptMinor: v.optional(MinorSchema),
    settledAt: v.optional(TimestampSchema),
    settlesAt: v.optional(TimestampSchema),
    category: v.optional(v.string()),
    createdAt: v.optional(TimestampSchema),
    updatedAt: TimestampSchema,
  }),
})
export type OpenTransaction = v.InferOutput<typeof OpenTransactionSchema>

export const SyncJobSchema = v.variant('kind', [SliceSchema, OpenTransactionSchema])
export type SyncJob = v.InferOutput<typeof SyncJobSchema>
