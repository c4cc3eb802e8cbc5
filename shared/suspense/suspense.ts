import * as v from 'valibot'
import { less, type Minor, MinorSchema, ZERO } from '../money.ts'
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
    // Money of a payment moved, and every side is booked: told, and closed from the beginning.
    'money_went_back',
    'money_came_back',
    'disputed_amount_unknown',
    'too_many_movements',
    'transaction_unexplained',
    'event_gone',
  ],
} as const

/** Findings that tell of booked movements: they are born resolved. */
export const MOVED_CAUSES = ['money_went_back', 'money_came_back'] as const

export type MoneyCause = (typeof SUSPENSE_CAUSES)['money'][number]
export type FindingCause = (typeof SUSPENSE_CAUSES)['finding'][number]

export const SUSPENSE_STATUSES = ['open', 'resolved'] as const

/** `refunded` is written by the provider's own row; the others by operators. */
export const RESOLUTIONS = ['refunded', 'refunded_by_bank', 'written_off', 'explained'] as const

const SUSPENSE_ID = /^[\x20-\x7e]{1,512}$/

/** Made of the provider's ids and our own words; any other text names nothing, and need not even be read. */
export const isSuspenseId = (text: string): boolean => SUSPENSE_ID.test(text)

export const SuspenseSchema = v.object({
  suspenseId: v.string(),
  kind: v.picklist(['money', 'finding']),
  cause: v.string(),
  amountMinor: v.optional(MinorSchema),
  paymentId: v.optional(v.string()),
  clientId: v.optional(v.string()),
  providerPaymentId: v.optional(v.string()),
  status: v.picklist(SUSPENSE_STATUSES),
  /** Of money: what the house journal holds for it, once its own row has settled. */
  postedMinor: v.optional(MinorSchema),
  /** What the provider has given back of it so far. */
  refundedMinor: v.optional(MinorSchema),
  createdAt: TimestampSchema,
  resolution: v.optional(v.picklist(RESOLUTIONS)),
  notes: v.optional(v.string()),
})
export type Suspense = v.InferOutput<typeof SuspenseSchema>

/** What is still to be given back of money in suspense. */
export const owedOf = ({ amountMinor = ZERO, refundedMinor = ZERO }: Suspense): Minor =>
  less(amountMinor, refundedMinor)

/** What the house journal holds for an item: nothing before its own row has settled, nothing once it is resolved. */
export const heldOf = (item: Suspense): Minor =>
  item.status === 'open' && item.postedMinor !== undefined ? owedOf(item) : ZERO
