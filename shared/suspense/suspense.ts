import * as v from 'valibot'
import { MinorSchema } from '../money.ts'
import { TimestampSchema } from '../time.ts'

/** Money that may not be credited, or something found that the books cannot explain. */
export const SUSPENSE_CAUSES = {
  money: ['unknown_reference', 'payment_not_pending', 'second_capture', 'wrong_amount', 'wrong_currency'],
  finding: [
    'not_found_upstream',
    'fee_assumed',
    'transaction_missing',
    'fee_changed',
    'amount_differs',
    'reversed_upstream',
    'reversal_deducted',
    'fee_lost',
    'reversed_after_settlement',
    'reversed_in_part',
    'left_out_though_closed',
    'reversal_undone',
    'undone_unclear',
    'undone_though_closed',
    'transaction_unexplained',
    // Of a client's books as a whole: its id is in theirs.
    'credited_difference',
    'settled_difference',
    'provider_overdue',
  ],
} as const

export type MoneyCause = (typeof SUSPENSE_CAUSES)['money'][number]
export type FindingCause = (typeof SUSPENSE_CAUSES)['finding'][number]

export const SUSPENSE_STATUSES = ['open', 'resolved'] as const

export const RESOLUTIONS = ['refunded', 'written_off', 'recovered'] as const

const SUSPENSE_ID = /^[\x20-\x7e]{1,512}$/

/** Made of the provider's ids and our own words; any other text names nothing, and need not even be read. */
export const isSuspenseId = (text: string): boolean => SUSPENSE_ID.test(text)

export const SuspenseSchema = v.object({
  suspenseId: v.string(),
  /** `receivable`: the provider took back what a client was paid or will be paid, so the client owes it. */
  kind: v.picklist(['money', 'finding', 'receivable']),
  cause: v.string(),
  amountMinor: v.optional(MinorSchema),
  paymentId: v.optional(v.string()),
  clientId: v.optional(v.string()),
  providerPaymentId: v.optional(v.string()),
  status: v.picklist(SUSPENSE_STATUSES),
  createdAt: TimestampSchema,
  resolution: v.optional(v.picklist(RESOLUTIONS)),
  notes: v.optional(v.string()),
  /** The settlement whose re-credit left it out, or the transaction that took all of the payment: nobody owes it. */
  leftOutBy: v.optional(v.string()),
  /** The transaction by which the money came again: nobody owes it. */
  reinstatedBy: v.optional(v.string()),
})
export type Suspense = v.InferOutput<typeof SuspenseSchema>
