import type { Minor } from '../money.ts'
import type { PaymentMethod } from '../payment-method.ts'
import type { FailureReason } from '../payment-status.ts'
import type { Timestamp } from '../time.ts'

/** The upstream provider as the domain sees it. The adapter, in a folder of its own, knows its HTTP, nothing else does. */
export type Provider = {
  createRequest(input: CreateRequestInput, timeoutMs: number): Promise<CreateAnswer>
  getRequest(paymentRequestId: string, timeoutMs: number): Promise<Answer<ProviderRequest>>
  getPayment(providerPaymentId: string, timeoutMs: number): Promise<Answer<ProviderPayment>>
  cancelRequest(paymentRequestId: string, timeoutMs: number): Promise<CancelAnswer>
  /** One page of transactions. Inside a span only `afterId` is a position: their order is the provider's affair. */
  listTransactions(filter: TransactionFilter, timeoutMs: number): Promise<Answer<TransactionPage>>
  /** What the account of payments holds now, by the provider's own word. It names no settlement time: it proves nothing. */
  getBalance(timeoutMs: number): Promise<Answer<ProviderBalance>>
  /**
   * How long the provider wants no more calls of an operation, by the headers of its last answer to one; 0: go on. Work
   * that nobody waits for obeys it (`waitForProvider`); a customer's question is asked all the same.
   */
  pauseMs(operation: ProviderOperation): number
  /** How many calls of an operation are left in the provider's present minute, by the same headers; undefined: unknown. */
  callsLeft(operation: ProviderOperation): number | undefined
  /**
   * True for a code that at the provider is another kind of channel than a wallet. Any other code of the right form is
   * taken for a wallet (spec 2.1.1).
   */
  isOtherChannel(code: string): boolean
  /** The name of the provider that takes payments of this channel. A payment keeps it from its claim on. */
  nameFor(channel: Channel): string
}

export type ProviderOperation = Exclude<keyof Provider, 'pauseMs' | 'callsLeft' | 'isOtherChannel' | 'nameFor'>

/** A channel by the merchants' words. */
type Channel = { readonly method: PaymentMethod; readonly channelCode?: string | undefined }

export type CreateRequestInput = {
  /** `<payment id>-<attempt>`: names our payment in everything the provider later says. */
  readonly reference: string
  readonly method: PaymentMethod
  /** The merchants' code of the channel; undefined where the method has one channel. The adapter knows the provider's own. */
  readonly channelCode: string | undefined
  readonly amountMinor: Minor
  readonly description: string | undefined
  /** From here on: undefined or empty where the channel takes none. */
  readonly expiresAt: Timestamp | undefined
  readonly displayName: string | undefined
  /** Where a push goes. */
  readonly phone: string | undefined
  readonly returnUrls: ReturnUrls
}

/** Where the customer's browser goes afterwards. */
export type ReturnUrls = { readonly [Outcome in 'success' | 'failure' | 'cancel']?: string }

/**
 * Why a question stayed without an answer. `unreachable`: none came; every other reason is one that the provider gave, or
 * that we have no key. `rate_limited`: stop asking for now. `misconfigured` (our key) and `refused` (what we asked) are
 * mistakes of ours, which no repetition mends.
 */
export type Unanswered = {
  readonly kind: 'unanswered'
  readonly reason: 'unreachable' | 'server_error' | 'rate_limited' | 'misconfigured' | 'refused'
  /** The provider's error code where it refused us, safe to log. */
  readonly code?: string
}

/** True when the provider said no to a call of ours that should not have been made like this. */
export const isOurMistake = ({ reason }: Pick<Unanswered, 'reason'>): boolean =>
  reason === 'misconfigured' || reason === 'refused'

export type Answer<T> = { readonly kind: 'found'; readonly value: T } | { readonly kind: 'not_found' } | Unanswered

export type CreateAnswer =
  | { readonly kind: 'created'; readonly request: ProviderRequest }
  /**
   * The provider said no for good: nothing exists upstream. `code` is its error code, safe to show. `ofAccount`: for what
   * our account is or lacks, so that other payments are refused as well.
   */
  | { readonly kind: 'refused'; readonly code: string; readonly ofAccount?: boolean }
  /** The provider said "not now" before any effect (429, or the connection was never made). */
  | { readonly kind: 'not_executed'; readonly reason: string }
  /** Nobody knows: a payable request may exist upstream. `answered`: the provider said something, but not that. */
  | { readonly kind: 'unknown'; readonly reason: string; readonly answered?: true }

export type CancelAnswer =
  | { readonly kind: 'cancelled' }
  /** Already final upstream: its own status says how. */
  | { readonly kind: 'final' }
  /** The provider cannot cancel it although it is not final. */
  | { readonly kind: 'not_cancellable' }
  | { readonly kind: 'not_found' }
  | Unanswered

export type ProviderBalance = {
  /** The provider's own name of the account. */
  readonly account: string
  readonly amountMinor: Minor
}

/** `open` covers every state from which the request can still end in another one. */
export type ProviderRequestStatus = 'open' | 'succeeded' | 'failed' | 'expired' | 'cancelled'

export type ProviderRequest = {
  readonly paymentRequestId: string
  readonly reference: string
  readonly status: ProviderRequestStatus
  /** Why it failed, where it did and the provider says so. */
  readonly failureReason?: FailureReason | undefined
  readonly latestPaymentId: string | undefined
  /** What the customer is shown. Undefined when the answer holds none that fits the channel: a push shows nothing. */
  readonly destination: string | undefined
}

export type ProviderPayment = {
  readonly providerPaymentId: string
  readonly paymentRequestId: string
  readonly reference: string
  readonly currency: string
  /** `captured`: money was received. */
  readonly status: 'captured' | 'open' | 'failed'
  /** Sum of the captures: what was really received, which may differ from what was asked. */
  readonly capturedMinor: Minor
}

export type TransactionFilter = {
  /** Of every kind; otherwise payments alone. */
  readonly allTypes?: boolean
  readonly providerPaymentId?: string
  readonly reference?: string
  /** By the provider's own name; of all kinds otherwise. */
  readonly category?: string
  /** Those alone whose money has gone back. */
  readonly reversedOnly?: boolean
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
  /** Ids of rows that say something we cannot read: a person must look, and the rest of the page counts all the same. */
  readonly unreadableIds?: readonly string[]
  readonly hasMore: boolean
  /** Where the next page begins: the last row's id. Not needed where the last row is among `transactions`. */
  readonly afterId?: string
}

/**
 * What moved. `return`: money that goes back to a customer. `correction`: what else may be about a payment. `account`: the
 * account's own affairs, such as a withdrawal. `unknown`: of a type that no document names.
 */
export type TransactionType = 'payment' | 'return' | 'correction' | 'account' | 'unknown'

export type ProviderTransaction = {
  readonly type: TransactionType
  readonly transactionId: string
  readonly providerPaymentId: string
  /** The row proves that the money of `providerPaymentId` was captured. */
  readonly isCaptured?: true | undefined
  readonly paymentRequestId: string | undefined
  readonly reference: string
  readonly status: 'success' | 'pending' | 'failed' | 'reversed' | 'unknown'
  /** How money goes back by this row; undefined where none does, or nobody knows how. */
  readonly returns?: 'voided' | 'reversed' | 'refund' | 'chargeback' | undefined
  /** Of the account: money that left for our bank. */
  readonly isWithdrawal?: true | undefined
  /** Whether money that went back comes again by this row, as behind a dispute that was won. */
  readonly comesAgain?: true | undefined
  readonly currency: string
  readonly amountMinor: Minor
  /** What our account at the provider gains by the row: its net amount, signed by its cashflow. */
  readonly providerMinor: Minor
  /** Of a chargeback: what is disputed, without the fee that the row shows; undefined where no fee is shown. */
  readonly disputedMinor?: Minor | undefined
  /** What the provider keeps of a payment (fee, VAT, withholding): amount - net. Undefined until it is final. */
  readonly keptMinor: Minor | undefined
  /** When the provider's money reached us; undefined before. */
  readonly settledAt: Timestamp | undefined
  /** When the provider means to settle; undefined where it does not say. */
  readonly settlesAt?: Timestamp | undefined
  /** The provider's own name of its kind of channel; undefined where it does not say. */
  readonly category?: string | undefined
  readonly createdAt?: Timestamp | undefined
  readonly updatedAt: Timestamp
}

/** Deadlines of design section 4, in milliseconds. */
export const PROVIDER_READ_TIMEOUT_MS = 4_000
export const PROVIDER_CREATE_TIMEOUT_MS = 12_000

/** What a callback is about: it says what to ask the provider about, never what to believe. */
export type CallbackSubject = {
  readonly paymentRequestId: string | undefined
  readonly providerPaymentId: string | undefined
  readonly reference: string | undefined
}

/** `money_back`: about a refund or a dispute, which the provider's transactions tell. Undefined: there is nothing to ask. */
export type ParseCallback = (body: string) => CallbackSubject | 'money_back' | undefined
