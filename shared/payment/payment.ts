import * as v from 'valibot'
import { ClientIdSchema, PaymentIdSchema } from '../ids.ts'
import { MovementSchema, REVERSAL_KINDS } from '../journal/payment-money.ts'
import { MinorSchema, ZERO } from '../money.ts'
import { FAILURE_REASONS, PAYMENT_METHODS, PAYMENT_STATUSES } from '../payment-status.ts'
import { DISPUTE_STATES, HELD_STATUSES, SUSPENSE_CAUSES } from '../suspense/suspense.ts'
import { TimestampSchema } from '../time.ts'

export const CustomerSchema = v.object(
  v.entriesFromList(['name', 'email', 'phone'], v.optional(v.string())),
)

const requestFields = {
  method: v.picklist(PAYMENT_METHODS),
  channelCode: v.optional(v.string()),
  notionalMinor: MinorSchema,
  currency: v.literal('IDR'),
  externalReference: v.optional(v.string()),
  customer: v.optional(CustomerSchema),
  description: v.optional(v.string()),
  /** JSON text, which keeps the digits of numbers and the order of keys. */
  metadata: v.optional(v.string()),
}

const PaymentRequestSchema = v.object({
  ...requestFields,
  expiresInSeconds: v.optional(v.number()),
})
export type PaymentRequest = v.InferOutput<typeof PaymentRequestSchema>

const ProviderAttemptSchema = v.object({
  number: v.number(),
  startedAt: TimestampSchema,
  /**
   * When our call ended without a destination. Absent while the call runs, and after its process
   * died.
   */
  endedAt: v.optional(TimestampSchema),
  /** `started` remains after the process died. `created` is the default and is not stored. */
  outcome: v.optional(
    v.picklist(['started', 'created', 'refused', 'not_executed', 'unknown']),
    'created',
  ),
  code: v.optional(v.string()),
  /** Of a refused attempt: the request's own field is wrong, so the answer is 422. */
  wrongField: v.optional(v.string()),
  /** Shows its caller which claim is its own. Absent once the call has ended. */
  claimToken: v.optional(v.string()),
  /** Absent in the attempt that created the payment, because the payment has the same id. */
  paymentRequestId: v.optional(v.string()),
})
export type ProviderAttempt = v.InferOutput<typeof ProviderAttemptSchema>

export const FEE_STATUSES = ['estimated', 'actual', 'assumed'] as const

/** Design section 10. The payment keeps its status and amounts. */
const ReversalSchema = v.object({
  kind: v.picklist(REVERSAL_KINDS),
  amountMinor: MinorSchema,
  at: TimestampSchema,
  /** When the whole amount was given back. */
  undoneAt: v.optional(TimestampSchema),
})
export type Reversal = v.InferOutput<typeof ReversalSchema>

/** As the provider says it; `caseId` names its item in suspense (design section 14). */
const DisputeSchema = v.object({
  caseId: v.string(),
  state: v.picklist(DISPUTE_STATES),
  amountMinor: v.optional(MinorSchema),
  /** Until when it can be answered. */
  answerBy: v.optional(TimestampSchema),
})

/** Money that names the payment and is not credited; `suspenseId` names its item in suspense. */
const HeldMoneySchema = v.object({
  suspenseId: v.string(),
  amountMinor: MinorSchema,
  cause: v.picklist(SUSPENSE_CAUSES.money),
  status: v.picklist(HELD_STATUSES),
  /** When it was held. */
  at: TimestampSchema,
})
export type HeldMoney = v.InferOutput<typeof HeldMoneySchema>

const TransitionSchema = v.object({
  status: v.picklist(PAYMENT_STATUSES),
  at: TimestampSchema,
  source: v.picklist(['create', 'callback', 'due_work', 'cancel', 'operator', 'sync']),
})
export type Transition = v.InferOutput<typeof TransitionSchema>
export type NewsSource = Transition['source']

const identity = {
  paymentId: PaymentIdSchema,
  clientId: ClientIdSchema,
  /** The id is derived from client and digest (`isForeign`). Without a digest it fits no client. */
  keyDigest: v.optional(v.string(), ''),
  // The claim chooses the provider, which never changes.
  provider: v.string(),
  attempt: v.number(),
  /** At most twenty, oldest first (`withAttempt`). */
  providerAttempts: v.array(ProviderAttemptSchema),
}

/** A claimed payment without a destination yet. No client can see it. */
export const CreatingPaymentSchema = v.object({
  ...identity,
  status: v.literal('creating'),
  request: PaymentRequestSchema,
  /** The customer was erased from the request. A writer that read the request before is refused. */
  erasedAt: v.optional(TimestampSchema),
  claimedAt: TimestampSchema,
  /** Absent after the release: the next request may take over. */
  leaseUntil: v.optional(TimestampSchema),
  /** True when an attempt may exist at the provider although its answer was lost. */
  mayExistUpstream: v.boolean(),
  failure: v.optional(v.string()),
  /** Captures that were announced while the lease was live. */
  rememberedProviderPaymentIds: v.optional(v.set(v.string())),
  dueAt: v.optional(TimestampSchema),
})
export type CreatingPayment = v.InferOutput<typeof CreatingPaymentSchema>

/** The final fee. Stored only for invoiced fees; posting stores all other figures. */
const FinalFeeSchema = v.object({
  status: v.picklist(['actual', 'assumed']),
  feeMinor: MinorSchema,
  at: TimestampSchema,
  /** The contract bills fees later, so the provider's transactions show none. */
  invoiced: v.optional(v.literal(true)),
})
export type FinalFee = v.InferOutput<typeof FinalFeeSchema>

/** A payment that a client can see (spec 2.1). */
export const PaymentFields = v.object({
  ...identity,
  status: v.picklist(PAYMENT_STATUSES),
  ...requestFields,
  providerFeeMinor: MinorSchema,
  markupMinor: MinorSchema,
  netMinor: MinorSchema,
  feeStatus: v.picklist(FEE_STATUSES),
  finalFee: v.optional(FinalFeeSchema),
  paymentDestination: v.string(),
  erasedAt: v.optional(TimestampSchema),
  expiresAt: v.optional(TimestampSchema),
  createdAt: TimestampSchema,
  paidAt: v.optional(TimestampSchema),
  /** The provider's request whose destination was shown. Only it can close this payment. */
  paymentRequestId: v.string(),
  /** What is credited. Request and reference are the payment's own unless they are here. */
  capture: v.optional(
    v.object({
      providerPaymentId: v.string(),
      paymentRequestId: v.optional(v.string()),
      reference: v.optional(v.string()),
    }),
  ),
  providerSettledAt: v.optional(TimestampSchema),
  cancelRequestedAt: v.optional(TimestampSchema),
  /** When our expiry began. From then on our cancel at the provider looks like the merchant's. */
  expiryStartedAt: v.optional(TimestampSchema),
  /** Captures that were announced during the create. Due work asks about them and removes them. */
  rememberedProviderPaymentIds: v.optional(v.set(v.string())),
  failureReason: v.optional(v.picklist(FAILURE_REASONS)),
  reversal: v.optional(ReversalSchema),
  dispute: v.optional(DisputeSchema),
  /** The last ten, oldest first. */
  held: v.optional(v.array(HeldMoneySchema)),
  /** `paidAt`, until the payment is posted. */
  openAt: v.optional(TimestampSchema),
  postedAt: v.optional(TimestampSchema),
  /** When the payment's settled row was booked, if the payment was posted without that row. */
  lateRowAt: v.optional(TimestampSchema),
  /** The payment's row at the provider, set when the row is booked. */
  ownRow: v.optional(
    v.object({
      transactionId: v.string(),
      providerMinor: MinorSchema,
      contradicts: v.optional(v.literal(true)),
    }),
  ),
  /** Every transaction that moves the payment's money checks this number and raises it. */
  moneyVersion: v.optional(v.number()),
  takenBackMinor: v.optional(MinorSchema, ZERO),
  /** The provider voided or reversed the payment's own row. */
  isVoid: v.optional(v.literal(true)),
  /** The payment was void before it was posted, so the client got nothing of it. */
  voidedOpen: v.optional(v.literal(true)),
  /** The provider's rows that moved the payment's money, oldest first, each once. */
  movements: v.optional(v.array(MovementSchema), []),
  transitions: v.array(TransitionSchema),
  dueAt: v.optional(TimestampSchema),
})
export type Payment = v.InferOutput<typeof PaymentFields>
export type StoredPayment = CreatingPayment | Payment

export function mayBeCredited(stored: StoredPayment | undefined): boolean {
  return stored?.status === 'creating' || stored?.status === 'pending'
}
