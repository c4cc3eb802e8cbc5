import * as v from 'valibot'
import { REVERSAL_KINDS } from '../journal/payment-money.ts'
import { MinorSchema } from '../money.ts'
import { TimestampSchema } from '../time.ts'

/**
 * The jobs of the sync. All but the head are due work of their own kind: whoever claims one moves its due time behind a
 * lease, keeps its position there with every page, and takes it out of due work when it is done.
 */

/** What has been handed out: everything updated before `position` is in slices or has been read. */
export const HeadSchema = v.object({
  position: TimestampSchema,
  /** Counts the rounds planned: of two planners one is refused. */
  round: v.number(),
  /** What the last slices held, so that the next ones are cut to a size. */
  rowsPerMinute: v.number(),
  /** When the reversals of half a year are read next. */
  reversalsAt: TimestampSchema,
})
export type Head = v.InferOutput<typeof HeadSchema>

const claimed = { id: v.string(), dueAt: TimestampSchema }

/** A span of the provider's transactions, both ends included, to be read page by page. */
const SliceSchema = v.object({
  ...claimed,
  /** `head`: by update. `tail`, `reversals`: by creation. */
  kind: v.picklist(['head', 'tail', 'reversals']),
  from: TimestampSchema,
  to: TimestampSchema,
  category: v.optional(v.string()),
  /** The last transaction of the last page kept. */
  afterId: v.optional(v.string()),
  /** Head: how many rows a minute it was cut for. */
  cutFor: v.optional(v.number(), 0),
  /** Rows read so far in this reading. */
  rows: v.optional(v.number(), 0),
  /** Tail: how often it has been read to its end. */
  reads: v.optional(v.number(), 0),
  /** Tail: by when everything open seen in this reading should be settled. */
  openUntil: v.optional(TimestampSchema),
})
export type Slice = v.InferOutput<typeof SliceSchema>

/** A transaction that nobody could be asked about, or whose payment is being created: to be looked at again by itself. */
export const OpenTransactionSchema = v.object({
  ...claimed,
  kind: v.literal('open'),
  /** How often it was looked at in vain. */
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
