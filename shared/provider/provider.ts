import * as v from 'valibot'
import type { ReturnUrls } from '../channel/channels.ts'
import { GatewayError } from '../errors.ts'
import { PaymentIdSchema } from '../ids.ts'
import { type Minor, MinorSchema } from '../money.ts'
import type { FailureReason, PaymentMethod } from '../payment-status.ts'
import type { DisputeNews } from '../suspense/dispute.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'

/**
 * The upstream provider. Only its adapter knows the provider's HTTP API. A call without a timeout
 * has the timeout of a read.
 */
export type Provider = {
  createRequest(input: CreateRequestInput, timeoutMs: number): Promise<CreateAnswer>
  getRequest(paymentRequestId: string, timeoutMs?: number): Promise<Answer<ProviderRequest>>
  getPayment(providerPaymentId: string, timeoutMs?: number): Promise<Answer<ProviderPayment>>
  cancelRequest(paymentRequestId: string, timeoutMs?: number): Promise<CancelAnswer>
  /** Their order is not documented, so `afterId` is the only position in a span. */
  listTransactions(
    filter: TransactionFilter,
    timeoutMs?: number,
  ): Promise<Found<TransactionPage> | Unanswered>
  /** The balance has no settlement time, so it proves no settlement. */
  getBalance(): Promise<Answer<ProviderBalance>>
  /** How long the provider refuses calls of an operation, by its last answer; 0: not paused. */
  pauseMs(operation: ProviderOperation): number
  /** Counts in the provider's present minute, by its last answer. Undefined: unknown. */
  callsLeft(operation: ProviderOperation): number | undefined
  /** The calls of a whole minute, by its last answer. Undefined: unknown. */
  callsOfMinute(operation: ProviderOperation): number | undefined
  /** Other codes of the right form count as wallets (spec 2.1.1). */
  isNonWalletCode(code: string): boolean
}

export type ProviderOperation = Exclude<
  keyof Provider,
  'pauseMs' | 'callsLeft' | 'callsOfMinute' | 'isNonWalletCode'
>

export type CreateRequestInput = {
  /** `<payment id>-<attempt>`: names our payment in every later message of the provider. */
  readonly reference: string
  readonly method: PaymentMethod
  /** Undefined for a method with one channel. */
  readonly channelCode: string | undefined
  readonly amountMinor: Minor
  readonly description: string | undefined
  /** Undefined or empty, like the next fields, if the channel does not take it. */
  readonly expiresAt: Timestamp | undefined
  readonly displayName: string | undefined
  readonly phone: string | undefined
  readonly returnUrls: ReturnUrls
}

/**
 * Why a call has no usable answer. `unreachable`: no answer arrived. `rate_limited`: make no calls
 * for now. `misconfigured` (our key is missing or refused) and `refused` (our request) are our
 * mistakes; a retry does not help.
 */
export type Unanswered = {
  readonly kind: 'unanswered'
  readonly reason: 'unreachable' | 'server_error' | 'rate_limited' | 'misconfigured' | 'refused'
  /** The provider's error code of a refusal; safe to log. */
  readonly code?: string
}

export function isOurMistake({ reason }: Pick<Unanswered, 'reason'>): boolean {
  return reason === 'misconfigured' || reason === 'refused'
}

export const DID_NOT_ANSWER = 'the provider did not answer'
export const FAILED = 'the provider failed'

/** The 502 of spec 7. `advice`: the present state and what to do. */
export function providerFailure(
  { reason }: Pick<Unanswered, 'reason'>,
  advice: string,
  details: { readonly actionHint?: string } = {},
): GatewayError {
  if (reason === 'unreachable')
    return new GatewayError('network', `${DID_NOT_ANSWER}; ${advice}`, details)
  // Only the log says that the provider refused our own call.
  const cause = reason === 'rate_limited' ? "the provider's rate limit is reached" : FAILED
  return new GatewayError('server_error', `${cause}; ${advice}`, details)
}

type Found<T> = { readonly kind: 'found'; readonly value: T }

export type Answer<T> = Found<T> | { readonly kind: 'not_found' } | Unanswered

export type CreateAnswer =
  | { readonly kind: 'created'; readonly request: ProviderRequest }
  /**
   * Nothing exists upstream. `code` is safe to show. `isAccountWide`: it concerns our whole
   * account. `isNotActivated`: its channel is not activated for our account.
   */
  | {
      readonly kind: 'refused'
      readonly code: string
      readonly isAccountWide?: boolean
      readonly isNotActivated?: boolean
    }
  /** The call had no effect: the provider answered 429, or no connection was made. */
  | { readonly kind: 'not_executed'; readonly reason: string }
  /** A payable request may exist upstream. `answered`: the provider sent an unclear answer. */
  | { readonly kind: 'unknown'; readonly reason: string; readonly answered?: true }

export type CancelAnswer =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'final' }
  /** The provider cannot cancel the request, although the request is not final. */
  | { readonly kind: 'not_cancellable' }
  | { readonly kind: 'not_found' }
  | Unanswered

export type ProviderBalance = { readonly account: string; readonly amountMinor: Minor }

/** `open` covers every documented state that is not final. `unknown`: no document names it. */
export type ProviderRequestStatus =
  | 'open'
  | 'succeeded'
  | 'failed'
  | 'expired'
  | 'cancelled'
  | 'unknown'

export type ProviderRequest = {
  readonly paymentRequestId: string
  readonly reference: string
  readonly status: ProviderRequestStatus
  readonly failureReason?: FailureReason | undefined
  readonly latestPaymentId: string | undefined
  /** Undefined if the answer has none for this channel, as for a push. */
  readonly destination: string | undefined
}

export type ProviderPayment = {
  readonly providerPaymentId: string
  readonly paymentRequestId: string
  readonly reference: string
  readonly currency: string
  /**
   * `captured`: money was received. `succeeded`: paid, but no capture proves it yet. `unknown`: no
   * document names the state.
   */
  readonly status: 'captured' | 'succeeded' | 'open' | 'failed' | 'unknown'
  readonly failureReason?: FailureReason | undefined
  /** The received amount, which may differ from the requested one. */
  readonly capturedMinor: Minor
  readonly capturedAt?: Timestamp | undefined
}

export type TransactionFilter = {
  /** Undefined: only payments. `others`: the provider's documented types but payments, by name. */
  readonly rows?: 'all' | 'others' | 'reversed'
  readonly providerPaymentId?: string
  readonly reference?: string
  /** The provider's own name of a channel category. */
  readonly category?: string
  /** Both ends are included. */
  readonly updatedFrom?: Timestamp
  readonly updatedTo?: Timestamp
  readonly createdFrom?: Timestamp
  readonly createdTo?: Timestamp
  readonly afterId?: string
  readonly limit: number
}

export type TransactionPage = {
  readonly transactions: readonly ProviderTransaction[]
  /** An operator must check these rows. The other rows are valid. */
  readonly unreadableIds?: readonly string[]
  readonly hasMore: boolean
  /** The last row's id, if `transactions` may lack that row. The next page begins after it. */
  readonly afterId?: string
}

/** From where the next page continues: also after rows that cannot be read. */
export function positionAfter({ afterId, transactions }: TransactionPage): string | undefined {
  return afterId ?? transactions.at(-1)?.transactionId
}

/**
 * One booked row of our account at the provider. The sync stores a row that it cannot decide yet.
 */
export const ProviderTransactionSchema = v.object({
  /**
   * `return`: back to a customer. `correction`: may concern a payment. `account`: ours. `unknown`:
   * undocumented.
   */
  type: v.picklist(['payment', 'return', 'correction', 'account', 'unknown']),
  transactionId: v.string(),
  providerPaymentId: v.string(),
  /** The row proves that the money of `providerPaymentId` was captured. */
  isCaptured: v.optional(v.literal(true)),
  paymentRequestId: v.optional(v.string()),
  reference: v.string(),
  /** What a row out names in the form of a payment's id, also in its description. */
  mentionedPaymentIds: v.optional(v.array(PaymentIdSchema)),
  status: v.picklist(['success', 'pending', 'failed', 'reversed', 'unknown']),
  /** Its settlement or its fee has a status that no document names, which counts as not final. */
  hasUnknownMember: v.optional(v.literal(true)),
  /** Undefined if the row is no reversal, or its kind is unknown. */
  reversalKind: v.optional(v.picklist(['voided', 'reversed', 'refund', 'chargeback'])),
  /** Money between our bank and our account. */
  transfer: v.optional(v.picklist(['topup', 'withdrawal'])),
  /** Charged-back money returns to us. */
  isDisputeWon: v.optional(v.literal(true)),
  currency: v.string(),
  amountMinor: MinorSchema,
  /** The net effect on our provider account, negative for money out. */
  providerMinor: MinorSchema,
  /** The net has another currency than the amount, so it says nothing about our account. */
  isForeignNet: v.optional(v.literal(true)),
  /** The provider's own fee that the row shows, if the fee is final or in what the row moves. */
  feeMinor: v.optional(MinorSchema),
  /** Its fee is final, not charged, or given back. */
  isFeeEnded: v.optional(v.literal(true)),
  /** Of a refund or a dispute: its fee is not final, so neither are its figures. */
  hasOpenFee: v.optional(v.literal(true)),
  /** Chargeback: the disputed amount without the row's fee; undefined if the row shows no fee. */
  disputedMinor: v.optional(MinorSchema),
  /** What the provider keeps of a payment (fee, VAT, withholding). Undefined until final. */
  keptMinor: v.optional(MinorSchema),
  settledAt: v.optional(TimestampSchema),
  settlesAt: v.optional(TimestampSchema),
  category: v.optional(v.string()),
  createdAt: TimestampSchema,
  updatedAt: TimestampSchema,
})
export type ProviderTransaction = Readonly<v.InferOutput<typeof ProviderTransactionSchema>>

export function isInRupiah({ currency, isForeignNet }: ProviderTransaction): boolean {
  return currency === 'IDR' && isForeignNet !== true
}

/** Deadlines of design section 4. */
export const PROVIDER_READ_TIMEOUT_MS = 4_000
export const PROVIDER_CREATE_TIMEOUT_MS = 12_000

/** The provider's window is one minute, so two minutes are always enough. */
export const LONGEST_PAUSE_MS = 120_000

/** Names what to ask the provider; its content is not trusted. */
export type CallbackSubject = {
  readonly paymentRequestId: string | undefined
  readonly providerPaymentId: string | undefined
  readonly reference: string | undefined
}

/**
 * `money_back`: a refund, which the sync reads from transactions. Undefined: there is nothing to
 * ask.
 */
export type ParseCallback = (
  body: string,
) => CallbackSubject | DisputeNews | 'money_back' | undefined
