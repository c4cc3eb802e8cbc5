import * as v from 'valibot'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { less, type Minor, MinorSchema, ZERO } from '../money.ts'
import { TimestampSchema } from '../time.ts'

/** The causes of held money, and of findings that the books cannot explain. */
export const SUSPENSE_CAUSES = {
  money: [
    'unknown_reference',
    'payment_not_pending',
    'second_capture',
    'wrong_amount',
    'wrong_currency',
    'payment_foreign',
  ],
  finding: [
    'not_found_upstream',
    'fee_assumed',
    'transaction_missing',
    'fee_changed',
    'amount_differs',
    'row_contradicts',
    'reversed_upstream',
    'money_went_back',
    'money_came_back',
    'disputed_amount_unknown',
    'too_many_movements',
    'transaction_unexplained',
    'event_gone',
    'state_unknown',
    'channel_not_activated',
    'payment_foreign',
    'dispute_unknown',
    'went_back_twice',
    'statement_differs',
  ],
  case: ['dispute', 'transfer'],
} as const

/** What the books cannot trust until a person has explained it (design section 12). */
export const CONTRADICTING_CAUSES = ['amount_differs', 'row_contradicts'] as const

/** Findings of booked movements, which are resolved from the beginning. */
export const MOVED_CAUSES = ['money_went_back', 'money_came_back'] as const

export function isMoved({ cause }: Pick<Suspense, 'cause'>): boolean {
  return MOVED_CAUSES.some((movedCause) => movedCause === cause)
}

export type MoneyCause = (typeof SUSPENSE_CAUSES)['money'][number]
/** Of a dispute, in their order; the last two end it. */
export const DISPUTE_STATES = ['action_required', 'under_review', 'won', 'lost'] as const
export type DisputeState = (typeof DISPUTE_STATES)[number]

export type FindingCause = (typeof SUSPENSE_CAUSES)['finding'][number]

/**
 * The provider's rows write the first three, news and time of a dispute the next three; the others
 * are an operator's.
 */
const RESOLUTIONS = [
  'refunded',
  'credited',
  'voided',
  'won',
  'lost',
  'lapsed',
  'refunded_by_bank',
  'written_off',
  'explained',
  'answered',
  'accepted',
] as const

/** What a merchant sees of held money: it is held, or what became of it. */
export const HELD_STATUSES = ['open', 'refunded', 'credited', 'written_off'] as const

export const SUSPENSE_KINDS = ['money', 'finding', 'case'] as const

export const SUSPENSE_STATUSES = ['open', 'resolved'] as const

export function isSuspenseId(text: string): boolean {
  return /^[\x20-\x7e]{1,512}$/.test(text)
}

export const SuspenseSchema = v.object({
  suspenseId: v.string(),
  kind: v.picklist(SUSPENSE_KINDS),
  cause: v.string(),
  amountMinor: v.optional(MinorSchema),
  paymentId: v.optional(v.string()),
  clientId: v.optional(v.string()),
  providerPaymentId: v.optional(v.string()),
  status: v.picklist(SUSPENSE_STATUSES),
  /**
   * What the money's own row has booked at the provider, once it has settled. Of a row that
   * contradicts its payment: what it moved.
   */
  providerMinor: v.optional(MinorSchema),
  /** The provider has voided or reversed the money's own row. */
  isVoid: v.optional(v.literal(true)),
  /** The amount that the provider has refunded so far. */
  refundedMinor: v.optional(MinorSchema),
  createdAt: TimestampSchema,
  /** Of a dispute: as the provider last said it. */
  state: v.optional(v.picklist(DISPUTE_STATES)),
  /** When the provider said it, by its clock. */
  saidAt: v.optional(TimestampSchema),
  /** Until when the dispute can be answered, also of the finding of its chargeback. */
  answerBy: v.optional(TimestampSchema),
  resolution: v.optional(v.picklist(RESOLUTIONS)),
  notes: v.optional(v.string()),
})
export type Suspense = v.InferOutput<typeof SuspenseSchema>

const FINDING_CAUSES: ReadonlySet<string> = new Set(SUSPENSE_CAUSES.finding)

/** Our own ids are derived, so no id of the provider has their form. */
const DERIVED_ID = /^.{14}8/

/**
 * What the id of a finding proves: its cause, and its payment if the finding is about a payment
 * itself. The ids of events have the form of a payment's id too.
 */
export function saidById(suspenseId: string) {
  const at = suspenseId.lastIndexOf('#')
  const subject = suspenseId.slice(0, Math.max(0, at))
  const cause = suspenseId.slice(at + 1)
  if (at < 0 || !FINDING_CAUSES.has(cause)) return {}
  const isPayment = cause !== 'event_gone' && DERIVED_ID.test(subject)
  const paymentId = isPayment ? ifValid(PaymentIdSchema, subject) : undefined
  return { kind: 'finding' as const, cause, ...(paymentId && { paymentId }) }
}

/** What never changes of an item. */
export const NotedSchema = v.pick(SuspenseSchema, [
  'suspenseId',
  'kind',
  'cause',
  'amountMinor',
  'paymentId',
  'clientId',
  'providerPaymentId',
  'createdAt',
])
export type Noted = v.InferOutput<typeof NotedSchema>

export function owedAmountOf({ amountMinor = ZERO, refundedMinor = ZERO }: Suspense): Minor {
  return less(amountMinor, refundedMinor)
}

export function isClosedByOperator(item: Suspense): boolean {
  return item.kind === 'money' && item.status === 'resolved' && !isResolvedByRow(item)
}

/** Without an operator: the money was refunded, or a payment was credited with it after all. */
function isResolvedByRow({ resolution }: Suspense) {
  return resolution === 'refunded' || resolution === 'credited'
}

/**
 * What stands in suspense. Below zero while money went back before its own row has settled; zero
 * once an operator closed the item or its own row is void.
 */
export function heldAmountOf(item: Suspense): Minor {
  return item.isVoid === true || isClosedByOperator(item) ? ZERO : bookedAmountOf(item)
}

/** What an operator gave back by bank or wrote off. */
export function resolvedAmountOf(item: Suspense): Minor {
  return isClosedByOperator(item) ? bookedAmountOf(item) : ZERO
}

/** What the rows of the item have left in suspense. */
function bookedAmountOf(item: Suspense) {
  return item.providerMinor === undefined
    ? less(ZERO, item.refundedMinor ?? ZERO)
    : owedAmountOf(item)
}

export function toSuspenseDto(item: Suspense) {
  return {
    suspense_id: item.suspenseId,
    kind: item.kind,
    cause: item.cause,
    amount_minor: item.amountMinor ?? null,
    payment_id: item.paymentId ?? null,
    provider_payment_id: item.providerPaymentId ?? null,
    status: item.status,
    created_at: item.createdAt,
    resolution: item.resolution ?? null,
    notes: item.notes ?? null,
    // An operator who refunds the remaining amount by bank must not refund this amount again.
    ...(item.refundedMinor !== undefined && { refunded_minor: item.refundedMinor }),
    ...(item.kind === 'case' && { state: item.state ?? null, due_at: item.answerBy ?? null }),
  }
}
