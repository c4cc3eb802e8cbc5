/* Written by `npm run openapi -- --write` from the schemas of docs/openapi.yaml; a test compares. */

export type CreatePayment = CreateVirtualAccountPayment | CreateQrisPayment | CreateWalletPayment | CreatePushPayment

/** The customer pays to a virtual account number at a bank. Each payment has its own number. */
export type CreateVirtualAccountPayment = {
  readonly method: 'virtual_account'
  /** The bank. */
  readonly channel_code: 'BCA' | 'BNI' | 'BRI' | 'MANDIRI' | 'PERMATA'
  /** What the customer pays, in IDR. */
  readonly amount: number
  readonly currency: 'IDR'
  /** Your own order or invoice id. Answers show it unchanged. It need not be unique. */
  readonly external_reference?: string | null
  readonly customer?: CustomerRequest
  /** A note of yours. Answers show it unchanged. */
  readonly description?: string | null
  /** Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** Seconds from now in which the customer can pay. Without it, or with 0: the channel's own time. Wallets and QRIS may expire earlier. */
  readonly expires_in_seconds?: number | null
}

/** The customer scans a QR code. It has no `channel_code`. */
export type CreateQrisPayment = {
  readonly method: 'qris'
  /** Leave it out. */
  readonly channel_code?: string | null
  /** What the customer pays, in IDR. */
  readonly amount: number
  readonly currency: 'IDR'
  /** Your own order or invoice id. Answers show it unchanged. It need not be unique. */
  readonly external_reference?: string | null
  readonly customer?: CustomerRequest
  /** A note of yours. Answers show it unchanged. */
  readonly description?: string | null
  /** Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** Seconds from now in which the customer can pay. Without it, or with 0: the channel's own time. Wallets and QRIS may expire earlier. */
  readonly expires_in_seconds?: number | null
}

/** The customer pays on the wallet's page. Redirect the customer to it. */
export type CreateWalletPayment = {
  readonly method: 'ewallet'
  /** The wallet. A wallet without its own tariff has the wallets' common tariff. */
  readonly channel_code: string
  /** What the customer pays, in IDR. */
  readonly amount: number
  readonly currency: 'IDR'
  /** Your own order or invoice id. Answers show it unchanged. It need not be unique. */
  readonly external_reference?: string | null
  readonly customer?: CustomerRequest
  /** A note of yours. Answers show it unchanged. */
  readonly description?: string | null
  /** Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** Seconds from now in which the customer can pay. Without it, or with 0: the channel's own time. Wallets and QRIS may expire earlier. */
  readonly expires_in_seconds?: number | null
}

/** The wallet sends a request to its app on the customer's phone, and the customer confirms it there. */
export type CreatePushPayment = {
  readonly method: 'ewallet'
  readonly channel_code: 'OVO'
  /** What the customer pays, in IDR. */
  readonly amount: number
  readonly currency: 'IDR'
  /** Your own order or invoice id. Answers show it unchanged. It need not be unique. */
  readonly external_reference?: string | null
  readonly customer: {
    readonly name?: string | null
    readonly email?: string | null
    /** E.164, Indonesian. */
    readonly phone: string
  }
  /** A note of yours. Answers show it unchanged. */
  readonly description?: string | null
  /** Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** Seconds from now in which the customer can pay. Without it, or with 0: the channel's own time. Wallets and QRIS may expire earlier. */
  readonly expires_in_seconds?: number | null
}

/** The customer. Every field may be missing or null. */
export type CustomerRequest = {
  readonly name?: string | null
  readonly email?: string | null
  readonly phone?: string | null
} | null

export type RedeliverToEndpoint = {
  /** Events that fired at or after this time. */
  readonly since: string
  /** Only deliveries of this status. Without it: everything that the endpoint missed. */
  readonly status?: 'succeeded' | 'abandoned' | 'skipped' | null
  /** The `next` of the last answer to the same request. */
  readonly cursor?: string | null
}

export type Payment = {
  /** Identifier of the payment. */
  readonly id: string
  /** The merchant whose payment it is. */
  readonly client_id: string
  /** Your own order or invoice id, as it was sent. Not checked for uniqueness. */
  readonly external_reference?: string
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  /** Bank or wallet. Absent for `qris`. */
  readonly channel_code?: string
  /** What the customer pays: the `amount` of the request. */
  readonly notional_minor: number
  /** The provider's fee: estimated at first, final once `fee_status` is no longer `estimated`. */
  readonly xendit_fee_minor: number
  /** The gateway's markup: 0.1 percent of `notional_minor`. */
  readonly hexolus_markup_minor: number
  /** What you are credited: `notional_minor` less fee and markup. May be negative. */
  readonly client_net_minor: number
  /** Book `client_net_minor` once this is no longer `estimated`: it does not move any more then. */
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly currency: 'IDR'
  /** All but `pending` are terminal: no payment leaves them. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
  /** Why it failed; present once `failed`. `wrong_amount`: what came is not what was asked for. */
  readonly failure_reason?: 'wrong_amount' | 'declined' | 'channel_unavailable' | 'cancelled_upstream' | 'other'
  /** What to show the customer. `virtual_account`: the account number. `qris`: the text to draw as a QR code. `ewallet`: the URL to redirect to, or empty where the wallet calls the customer by itself (OVO). */
  readonly payment_destination: string
  readonly customer?: {
    readonly name?: string
    readonly email?: string
    readonly phone?: string
  }
  readonly description?: string
  /** As it was sent, digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** When the payment was created. */
  readonly created_at: string
  /** When the customer paid; present once `succeeded`. */
  readonly paid_at?: string
  /** Until when it can be paid, where an expiry applies. */
  readonly expires_at?: string
  /** Money that the provider took back after success. The status stays `succeeded`. */
  readonly reversal?: {
    readonly kind: 'voided' | 'reversed' | 'refund' | 'chargeback'
    /** All that went back so far. */
    readonly amount_minor: number
    /** When the last of it did. */
    readonly at: string
    /** When a dispute was won and all of it came again. */
    readonly undone_at?: string
  }
}

export type WebhookData = {
  /** Identifier of the payment. */
  readonly id: string
  /** The merchant whose payment it is. */
  readonly client_id: string
  /** Your own order or invoice id, as it was sent. Not checked for uniqueness. */
  readonly external_reference?: string
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  /** Bank or wallet. Absent for `qris`. */
  readonly channel_code?: string
  /** What the customer pays: the `amount` of the request. */
  readonly notional_minor: number
  /** The provider's fee: estimated at first, final once `fee_status` is no longer `estimated`. */
  readonly xendit_fee_minor: number
  /** The gateway's markup: 0.1 percent of `notional_minor`. */
  readonly hexolus_markup_minor: number
  /** What you are credited: `notional_minor` less fee and markup. May be negative. */
  readonly client_net_minor: number
  /** Book `client_net_minor` once this is no longer `estimated`: it does not move any more then. */
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly currency: 'IDR'
  /** All but `pending` are terminal: no payment leaves them. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
  /** Why it failed; present once `failed`. `wrong_amount`: what came is not what was asked for. */
  readonly failure_reason?: 'wrong_amount' | 'declined' | 'channel_unavailable' | 'cancelled_upstream' | 'other'
  /** What to show the customer. `virtual_account`: the account number. `qris`: the text to draw as a QR code. `ewallet`: the URL to redirect to, or empty where the wallet calls the customer by itself (OVO). */
  readonly payment_destination: string
  readonly customer?: {
    readonly name?: string
    readonly email?: string
    readonly phone?: string
  }
  readonly description?: string
  /** As it was sent, digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** When the payment was created. */
  readonly created_at: string
  /** When the customer paid; present once `succeeded`. */
  readonly paid_at?: string
}

export type ReversedData = {
  /** Identifier of the payment. */
  readonly id: string
  /** The merchant whose payment it is. */
  readonly client_id: string
  /** Your own order or invoice id, as it was sent. Not checked for uniqueness. */
  readonly external_reference?: string
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  /** Bank or wallet. Absent for `qris`. */
  readonly channel_code?: string
  /** What the customer pays: the `amount` of the request. */
  readonly notional_minor: number
  /** The provider's fee: estimated at first, final once `fee_status` is no longer `estimated`. */
  readonly xendit_fee_minor: number
  /** The gateway's markup: 0.1 percent of `notional_minor`. */
  readonly hexolus_markup_minor: number
  /** What you are credited: `notional_minor` less fee and markup. May be negative. */
  readonly client_net_minor: number
  /** Book `client_net_minor` once this is no longer `estimated`: it does not move any more then. */
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly currency: 'IDR'
  /** All but `pending` are terminal: no payment leaves them. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
  /** Why it failed; present once `failed`. `wrong_amount`: what came is not what was asked for. */
  readonly failure_reason?: 'wrong_amount' | 'declined' | 'channel_unavailable' | 'cancelled_upstream' | 'other'
  /** What to show the customer. `virtual_account`: the account number. `qris`: the text to draw as a QR code. `ewallet`: the URL to redirect to, or empty where the wallet calls the customer by itself (OVO). */
  readonly payment_destination: string
  readonly customer?: {
    readonly name?: string
    readonly email?: string
    readonly phone?: string
  }
  readonly description?: string
  /** As it was sent, digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** When the payment was created. */
  readonly created_at: string
  /** When the customer paid; present once `succeeded`. */
  readonly paid_at?: string
  /** What happened: money went back, or (`dispute_won`, or a refund that was reversed) came again. */
  readonly type: 'refund' | 'chargeback' | 'reversal' | 'dispute_won'
  /** What this movement is about: refunded, disputed, or won. */
  readonly amount_minor: number
  /** What you have given back of the payment in all, after it; at most `client_net_minor`. */
  readonly taken_back_minor: number
}

export type Balance = {
  readonly client_id: string
  readonly currency: 'IDR'
  /** Of settlements that failed and were put back, until they are recorded again. */
  readonly available_minor: number
  /** Nets of succeeded payments that no settlement has taken yet. */
  readonly pending_minor: number
  /** Nets of settlements that are not paid out yet. Only with `include=settlements`. */
  readonly in_settlement_minor?: number
  /** Nets of settlements that were paid out. Only with `include=settlements`. */
  readonly paid_out_minor?: number
  /** When the ledger last changed; null for a merchant that never received a payment. */
  readonly updated_at: string | null
}

export type Settlement = {
  readonly id: string
  readonly client_id: string
  /** The window of `paid_at` it covers; this time included. */
  readonly period_start: string
  /** The end of the window; this time excluded. */
  readonly period_end: string
  /** Sum of `notional_minor` of its payments. */
  readonly gross_minor: number
  /** Sum of the provider's actual fees on them. */
  readonly xendit_fees_minor: number
  /** Sum of the gateway's markups on them. */
  readonly hexolus_markup_minor: number
  /** What is paid out: gross less fees and markups. */
  readonly net_minor: number
  readonly currency: 'IDR'
  readonly payment_count: number
  /** `recorded` until an operator says that the transfer was made (`manual_paid`) or rejected (`failed`). */
  readonly status: 'recorded' | 'manual_paid' | 'failed'
  /** By the daily sweep (`auto`) or an operator. */
  readonly triggered_by: 'manual' | 'auto'
  /** As registered when the settlement was recorded. */
  readonly bank_name: string | null
  /** As registered when the settlement was recorded. */
  readonly bank_account_no: string | null
  /** As registered when the settlement was recorded. */
  readonly bank_account_name: string | null
  /** The operator's note. */
  readonly notes: string | null
  /** When it was marked `manual_paid`. */
  readonly settled_at: string | null
  readonly created_at: string
}

export type Entry = {
  readonly id: string
  /** What moved the money. */
  readonly type: 'payment' | 'refund' | 'chargeback' | 'reversal' | 'dispute_won' | 'late_row' | 'recredit' | 'recovered' | 'written_off' | 'correction'
  readonly payment_id?: string
  /** Of a `recredit`: the failed settlement whose sums it carries. */
  readonly recredited_settlement_id?: string
  /** The settlement that took it; null until one does. */
  readonly settlement_id: string | null
  readonly external_reference?: string
  readonly method?: 'virtual_account' | 'ewallet' | 'qris'
  readonly channel_code?: string
  /** When its payment was paid. */
  readonly paid_at?: string
  /** When it was written. */
  readonly posted_at: string
  /** What customers paid, or got back. */
  readonly notional_minor: number
  /** The provider's actual fee. */
  readonly xendit_fee_minor: number
  /** The gateway's markup. */
  readonly hexolus_markup_minor: number
  /** What it adds to the merchant: notional less fee and markup. */
  readonly client_net_minor: number
}

export type WebhookEndpoint = {
  readonly id: string
  readonly url: string
  /** `*` stands for all of them but `payment.reversed`, which must be named. */
  readonly event_types: readonly ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payment.reversed' | '*')[]
  /** What happens while it is disabled is not sent; the operator enables it. */
  readonly enabled: boolean
  readonly created_at: string
}

export type WebhookDelivery = {
  /** The `X-Gateway-Delivery-Id` of its webhooks. */
  readonly id: string
  /** The `event_id` in their body: the same for every endpoint and every attempt. */
  readonly event_id: string
  readonly event: string
  /** Of a test event there is none. */
  readonly payment_id?: string
  readonly endpoint_id: string
  readonly url: string
  /** `abandoned` after eight attempts of a round; `skipped` where the endpoint was disabled or deleted. */
  readonly status: 'scheduled' | 'succeeded' | 'abandoned' | 'skipped'
  /** While `scheduled`. */
  readonly next_attempt_at: string | null
  readonly created_at: string
  /** Oldest first: the newest 100; in a list where many have many, the newest of each. */
  readonly attempts: readonly ({
    readonly number: number
    readonly at: string
    readonly duration_ms: number
    /** null where there was no answer. */
    readonly http_status: number | null
    /** null where it succeeded. */
    readonly error: 'http_status' | 'timeout' | 'connection' | 'tls' | 'dns' | 'address_refused' | 'secret_missing' | 'unknown' | null
    /** The first 1 KB of what your server answered. */
    readonly response_body: string | null
  })[]
}

export type Redelivered = {
  /** So many deliveries are on their way again, or for the first time. */
  readonly count: number
  /** So many were wanted and had their ten rounds today. Ask again after 00:00 UTC. Absent where there are none. */
  readonly passed_over?: number
  /** Send it as `cursor`, with the same `since` and `status`. Null: nothing is left. */
  readonly next: string | null
}

export type PaymentList = {
  readonly data: readonly (Payment)[]
  readonly pagination: {
    readonly page: number
    readonly per_page: number
    readonly total: number
    readonly total_pages: number
  }
}

export type SettlementList = {
  readonly data: readonly (Settlement)[]
  readonly pagination: {
    readonly page: number
    readonly per_page: number
  }
}

export type EntryList = {
  readonly data: readonly (Entry)[]
  readonly next: string | null
  readonly has_more: boolean
}

export type WebhookEndpointList = {
  readonly data: readonly (WebhookEndpoint)[]
}

export type WebhookDeliveryList = {
  readonly data: readonly (WebhookDelivery)[]
  readonly pagination: {
    readonly page: number
    readonly per_page: number
  }
}

export type Event = {
  readonly event: 'payment.succeeded' | 'payment.failed' | 'payment.expired'
  /** The same in every attempt and at every endpoint. */
  readonly event_id: string
  /** The time of the event, not of the webhook. */
  readonly timestamp: string
  readonly data: WebhookData
} | {
  readonly event: 'payment.reversed'
  /** The same in every attempt and at every endpoint. */
  readonly event_id: string
  /** The time of the event, not of the webhook. */
  readonly timestamp: string
  readonly data: ReversedData
}

export type EventList = {
  readonly data: readonly (Event)[]
  /** Send it as `after`. It is always present. Do not interpret it. */
  readonly next: string
  /** Whether `next` already leads to more. */
  readonly has_more: boolean
}

export type Error = {
  /** A text for people. It may change: decide by `code`. */
  readonly message: string
  readonly code: 'auth' | 'forbidden' | 'not_found' | 'conflict' | 'validation' | 'rate_limit' | 'network' | 'server_error' | 'internal_error'
  /** The errors of each field of the body. */
  readonly field_errors?: Readonly<Record<string, readonly (string)[]>>
  readonly action_hint?: string
}

/** An error from a proxy before the gateway: it has no envelope. An answer of a load balancer may not be JSON. */
export type PlatformError = {
  readonly message: string
}
