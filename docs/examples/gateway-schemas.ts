/* Written by `npm run openapi -- --write` from the schemas of docs/openapi.yaml; a test compares. */

export type CreatePayment = CreateVirtualAccountPayment | CreateQrisPayment | CreateWalletPayment | CreatePushPayment

/** The customer pays to a virtual account number at a bank. Each payment has its own number. */
export type CreateVirtualAccountPayment = {
  readonly method: 'virtual_account'
  /** The bank. */
  readonly channel_code: 'BCA' | 'BNI' | 'BRI' | 'MANDIRI' | 'PERMATA'
  /** The amount that the customer pays, in IDR. */
  readonly amount: number
  readonly currency: 'IDR'
  /** Your own order or invoice id. Answers show it unchanged. It need not be unique. Put no personal data here. */
  readonly external_reference?: string | null
  readonly customer?: CustomerRequest
  /** A note of yours. Answers show it unchanged. The provider gets it too. Put no personal data here. */
  readonly description?: string | null
  /** Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for digit. Put no personal data here. */
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** Seconds from now in which the customer can pay. Without it, or with 0: the channel's own time. Wallets and QRIS may expire earlier. */
  readonly expires_in_seconds?: number | null
}

/** The customer scans a QR code. It has no `channel_code`. */
export type CreateQrisPayment = {
  readonly method: 'qris'
  /** Leave it out. */
  readonly channel_code?: string | null
  /** The amount that the customer pays, in IDR. */
  readonly amount: number
  readonly currency: 'IDR'
  /** Your own order or invoice id. Answers show it unchanged. It need not be unique. Put no personal data here. */
  readonly external_reference?: string | null
  readonly customer?: CustomerRequest
  /** A note of yours. Answers show it unchanged. The provider gets it too. Put no personal data here. */
  readonly description?: string | null
  /** Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for digit. Put no personal data here. */
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** Seconds from now in which the customer can pay. Without it, or with 0: the channel's own time. Wallets and QRIS may expire earlier. */
  readonly expires_in_seconds?: number | null
}

/** The customer pays on the wallet's page. Redirect the customer to it. */
export type CreateWalletPayment = {
  readonly method: 'ewallet'
  /** The wallet. A wallet without its own tariff has the wallets' common tariff. */
  readonly channel_code: string
  /** The amount that the customer pays, in IDR. */
  readonly amount: number
  readonly currency: 'IDR'
  /** Your own order or invoice id. Answers show it unchanged. It need not be unique. Put no personal data here. */
  readonly external_reference?: string | null
  readonly customer?: CustomerRequest
  /** A note of yours. Answers show it unchanged. The provider gets it too. Put no personal data here. */
  readonly description?: string | null
  /** Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for digit. Put no personal data here. */
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** Seconds from now in which the customer can pay. Without it, or with 0: the channel's own time. Wallets and QRIS may expire earlier. */
  readonly expires_in_seconds?: number | null
}

/** The wallet sends a request to its app on the customer's phone, and the customer confirms it there. */
export type CreatePushPayment = {
  readonly method: 'ewallet'
  readonly channel_code: 'OVO'
  /** The amount that the customer pays, in IDR. */
  readonly amount: number
  readonly currency: 'IDR'
  /** Your own order or invoice id. Answers show it unchanged. It need not be unique. Put no personal data here. */
  readonly external_reference?: string | null
  readonly customer: {
    readonly name?: string | null
    readonly email?: string | null
    /** E.164, Indonesian. */
    readonly phone: string
  }
  /** A note of yours. Answers show it unchanged. The provider gets it too. Put no personal data here. */
  readonly description?: string | null
  /** Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for digit. Put no personal data here. */
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
  /** The id of the payment. */
  readonly id: string
  /** The merchant whose payment it is. */
  readonly client_id: string
  /** Your own order or invoice id, unchanged. It need not be unique. */
  readonly external_reference?: string
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  /** Bank or wallet. Absent for `qris`. */
  readonly channel_code?: string
  /** The amount that the customer pays: the `amount` of the request. */
  readonly notional_minor: number
  /** The provider's fee. It is final when `fee_status` is no longer `estimated`. */
  readonly xendit_fee_minor: number
  /** The gateway's markup: 0.1 percent of `notional_minor`. */
  readonly hexolus_markup_minor: number
  /** Your credit: `notional_minor` less fee and markup. It may be negative. */
  readonly client_net_minor: number
  /** `client_net_minor` is final when this is no longer `estimated`. Book it only then. */
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly currency: 'IDR'
  /** Only `pending` can change. Every other status is final. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
  /** Why a `failed` payment failed. `wrong_amount`: the customer paid another amount. */
  readonly failure_reason?: 'wrong_amount' | 'declined' | 'channel_unavailable' | 'cancelled_upstream' | 'other'
  /** What to show the customer. `virtual_account`: the account number. `qris`: the text of the QR code. `ewallet`: the URL to redirect to. It is empty if the wallet asks the customer on the phone (OVO). */
  readonly payment_destination: string
  readonly customer?: {
    readonly name?: string
    readonly email?: string
    readonly phone?: string
  }
  readonly description?: string
  /** Your own data, unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** When the payment was created. */
  readonly created_at: string
  /** When the gateway recorded the success. Only for a `succeeded` payment. */
  readonly paid_at?: string
  /** The end of the time to pay. Absent if there is none. */
  readonly expires_at?: string
  /** Money that went back after the payment succeeded. The payment stays `succeeded`. */
  readonly reversal?: {
    readonly kind: 'voided' | 'reversed' | 'refund' | 'chargeback'
    /** How much of `notional_minor` is taken back now. You bear at most `client_net_minor`. */
    readonly amount_minor: number
    /** When the last reversal happened. */
    readonly at: string
    /** When all of it had been returned, for example after a won dispute. */
    readonly undone_at?: string
  }
  /** A customer disputes the payment at the bank or wallet. It moves no money: what went back is in `reversal`. */
  readonly dispute?: {
    /** `action_required`: the operator of the gateway may answer it until `due_at`. */
    readonly status: 'action_required' | 'under_review' | 'won' | 'lost'
    /** The disputed amount, if the provider says it. */
    readonly amount_minor?: number
    /** Until when the dispute can be answered. */
    readonly due_at?: string
  }
  /** The last ten, oldest first. */
  readonly held?: readonly ({
    /** What the provider received. */
    readonly amount_minor: number
    /** Why it is not credited: `second_capture` means that the payment was paid before, `payment_not_pending` that it had ended. */
    readonly cause: 'unknown_reference' | 'payment_not_pending' | 'second_capture' | 'wrong_amount' | 'wrong_currency' | 'payment_foreign'
    /** `open`: the operator of the gateway must give it back. `refunded`: it went back to the customer. `credited`: the payment was credited with it after all. `written_off`: it stays with the operator. */
    readonly status: 'open' | 'refunded' | 'credited' | 'written_off'
    /** When it was held. */
    readonly at: string
  })[]
}

export type WebhookData = {
  /** The id of the payment. */
  readonly id: string
  /** The merchant whose payment it is. */
  readonly client_id: string
  /** Your own order or invoice id, unchanged. It need not be unique. */
  readonly external_reference?: string
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  /** Bank or wallet. Absent for `qris`. */
  readonly channel_code?: string
  /** The amount that the customer pays: the `amount` of the request. */
  readonly notional_minor: number
  /** The provider's fee. It is final when `fee_status` is no longer `estimated`. */
  readonly xendit_fee_minor: number
  /** The gateway's markup: 0.1 percent of `notional_minor`. */
  readonly hexolus_markup_minor: number
  /** Your credit: `notional_minor` less fee and markup. It may be negative. */
  readonly client_net_minor: number
  /** `client_net_minor` is final when this is no longer `estimated`. Book it only then. */
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly currency: 'IDR'
  /** Only `pending` can change. Every other status is final. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
  /** Why a `failed` payment failed. `wrong_amount`: the customer paid another amount. */
  readonly failure_reason?: 'wrong_amount' | 'declined' | 'channel_unavailable' | 'cancelled_upstream' | 'other'
  /** What to show the customer. `virtual_account`: the account number. `qris`: the text of the QR code. `ewallet`: the URL to redirect to. It is empty if the wallet asks the customer on the phone (OVO). */
  readonly payment_destination: string
  readonly customer?: {
    readonly name?: string
    readonly email?: string
    readonly phone?: string
  }
  readonly description?: string
  /** Your own data, unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** When the payment was created. */
  readonly created_at: string
  /** When the gateway recorded the success. Only for a `succeeded` payment. */
  readonly paid_at?: string
}

export type ReversedData = {
  /** The id of the payment. */
  readonly id: string
  /** The merchant whose payment it is. */
  readonly client_id: string
  /** Your own order or invoice id, unchanged. It need not be unique. */
  readonly external_reference?: string
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  /** Bank or wallet. Absent for `qris`. */
  readonly channel_code?: string
  /** The amount that the customer pays: the `amount` of the request. */
  readonly notional_minor: number
  /** The provider's fee. It is final when `fee_status` is no longer `estimated`. */
  readonly xendit_fee_minor: number
  /** The gateway's markup: 0.1 percent of `notional_minor`. */
  readonly hexolus_markup_minor: number
  /** Your credit: `notional_minor` less fee and markup. It may be negative. */
  readonly client_net_minor: number
  /** `client_net_minor` is final when this is no longer `estimated`. Book it only then. */
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly currency: 'IDR'
  /** Only `pending` can change. Every other status is final. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
  /** Why a `failed` payment failed. `wrong_amount`: the customer paid another amount. */
  readonly failure_reason?: 'wrong_amount' | 'declined' | 'channel_unavailable' | 'cancelled_upstream' | 'other'
  /** What to show the customer. `virtual_account`: the account number. `qris`: the text of the QR code. `ewallet`: the URL to redirect to. It is empty if the wallet asks the customer on the phone (OVO). */
  readonly payment_destination: string
  readonly customer?: {
    readonly name?: string
    readonly email?: string
    readonly phone?: string
  }
  readonly description?: string
  /** Your own data, unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** When the payment was created. */
  readonly created_at: string
  /** When the gateway recorded the success. Only for a `succeeded` payment. */
  readonly paid_at?: string
  /** Money went back, or returned (`dispute_won`, or an undone reversal). */
  readonly type: 'refund' | 'chargeback' | 'reversal' | 'dispute_won'
  /** The amount of this movement: refunded, disputed, or won. */
  readonly amount_minor: number
  /** The total taken back from you after this movement. At most `client_net_minor`. */
  readonly taken_back_minor: number
}

export type DisputedData = {
  /** The id of the payment. */
  readonly id: string
  /** The merchant whose payment it is. */
  readonly client_id: string
  /** Your own order or invoice id, unchanged. It need not be unique. */
  readonly external_reference?: string
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  /** Bank or wallet. Absent for `qris`. */
  readonly channel_code?: string
  /** The amount that the customer pays: the `amount` of the request. */
  readonly notional_minor: number
  /** The provider's fee. It is final when `fee_status` is no longer `estimated`. */
  readonly xendit_fee_minor: number
  /** The gateway's markup: 0.1 percent of `notional_minor`. */
  readonly hexolus_markup_minor: number
  /** Your credit: `notional_minor` less fee and markup. It may be negative. */
  readonly client_net_minor: number
  /** `client_net_minor` is final when this is no longer `estimated`. Book it only then. */
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly currency: 'IDR'
  /** Only `pending` can change. Every other status is final. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
  /** Why a `failed` payment failed. `wrong_amount`: the customer paid another amount. */
  readonly failure_reason?: 'wrong_amount' | 'declined' | 'channel_unavailable' | 'cancelled_upstream' | 'other'
  /** What to show the customer. `virtual_account`: the account number. `qris`: the text of the QR code. `ewallet`: the URL to redirect to. It is empty if the wallet asks the customer on the phone (OVO). */
  readonly payment_destination: string
  readonly customer?: {
    readonly name?: string
    readonly email?: string
    readonly phone?: string
  }
  readonly description?: string
  /** Your own data, unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** When the payment was created. */
  readonly created_at: string
  /** When the gateway recorded the success. Only for a `succeeded` payment. */
  readonly paid_at?: string
  /** A customer disputes the payment at the bank or wallet. It moves no money: what went back is in `reversal`. */
  readonly dispute: {
    /** `action_required`: the operator of the gateway may answer it until `due_at`. */
    readonly status: 'action_required' | 'under_review' | 'won' | 'lost'
    /** The disputed amount, if the provider says it. */
    readonly amount_minor?: number
    /** Until when the dispute can be answered. */
    readonly due_at?: string
  }
}

export type HeldData = {
  /** The id of the payment. */
  readonly id: string
  /** The merchant whose payment it is. */
  readonly client_id: string
  /** Your own order or invoice id, unchanged. It need not be unique. */
  readonly external_reference?: string
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  /** Bank or wallet. Absent for `qris`. */
  readonly channel_code?: string
  /** The amount that the customer pays: the `amount` of the request. */
  readonly notional_minor: number
  /** The provider's fee. It is final when `fee_status` is no longer `estimated`. */
  readonly xendit_fee_minor: number
  /** The gateway's markup: 0.1 percent of `notional_minor`. */
  readonly hexolus_markup_minor: number
  /** Your credit: `notional_minor` less fee and markup. It may be negative. */
  readonly client_net_minor: number
  /** `client_net_minor` is final when this is no longer `estimated`. Book it only then. */
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly currency: 'IDR'
  /** Only `pending` can change. Every other status is final. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
  /** Why a `failed` payment failed. `wrong_amount`: the customer paid another amount. */
  readonly failure_reason?: 'wrong_amount' | 'declined' | 'channel_unavailable' | 'cancelled_upstream' | 'other'
  /** What to show the customer. `virtual_account`: the account number. `qris`: the text of the QR code. `ewallet`: the URL to redirect to. It is empty if the wallet asks the customer on the phone (OVO). */
  readonly payment_destination: string
  readonly customer?: {
    readonly name?: string
    readonly email?: string
    readonly phone?: string
  }
  readonly description?: string
  /** Your own data, unchanged, numbers digit for digit. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** When the payment was created. */
  readonly created_at: string
  /** When the gateway recorded the success. Only for a `succeeded` payment. */
  readonly paid_at?: string
  /** Money that a customer paid for this payment and that is not credited to you. */
  readonly held: {
    /** What the provider received. */
    readonly amount_minor: number
    /** Why it is not credited: `second_capture` means that the payment was paid before, `payment_not_pending` that it had ended. */
    readonly cause: 'unknown_reference' | 'payment_not_pending' | 'second_capture' | 'wrong_amount' | 'wrong_currency' | 'payment_foreign'
    /** `open`: the operator of the gateway must give it back. `refunded`: it went back to the customer. `credited`: the payment was credited with it after all. `written_off`: it stays with the operator. */
    readonly status: 'open' | 'refunded' | 'credited' | 'written_off'
    /** When it was held. */
    readonly at: string
  }
}

export type Balance = {
  readonly client_id: string
  readonly currency: 'IDR'
  /** Net of failed settlements that were credited again, until a new settlement records them. */
  readonly available_minor: number
  /** Net of succeeded payments that are not in a settlement yet. */
  readonly pending_minor: number
  /** Net of settlements not paid out yet, or failed and not credited again. Only with `include=settlements`. */
  readonly in_settlement_minor?: number
  /** Net of settlements that were paid out. Only with `include=settlements`. */
  readonly paid_out_minor?: number
  /** When a figure last changed, those of `include=settlements` too; null for a merchant that never received a payment. */
  readonly updated_at: string | null
}

export type Settlement = {
  readonly id: string
  readonly client_id: string
  /** The start of its period, which includes this time. Each of its entries has period_start <= eligible_at - 24 h < period_end. For a payment that is posted within a day, eligible_at - 24 h is its paid_at. */
  readonly period_start: string
  /** The end of its period. The period excludes this time. */
  readonly period_end: string
  /** Sum of `notional_minor` of its entries. */
  readonly gross_minor: number
  /** Sum of the provider's final fees of its entries. */
  readonly xendit_fees_minor: number
  /** Sum of the gateway's markups of its entries. */
  readonly hexolus_markup_minor: number
  /** The amount of the payout: gross less fees and markups. */
  readonly net_minor: number
  readonly currency: 'IDR'
  readonly payment_count: number
  /** `recorded` until an operator marks the transfer as made (`manual_paid`) or rejected (`failed`). */
  readonly status: 'recorded' | 'manual_paid' | 'failed'
  /** The daily sweep (`auto`), or an operator. */
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
  /** The transfer at our bank, once it is paid. Only with `include=payout`. One debit for many payouts is named `<reference>#<line>`. */
  readonly bank_reference?: string | null
  /** The number of the payout batch. Only with `include=payout`. */
  readonly batch?: number | null
}

export type SettlementData = {
  readonly id: string
  readonly client_id: string
  /** The start of its period, which includes this time. Each of its entries has period_start <= eligible_at - 24 h < period_end. For a payment that is posted within a day, eligible_at - 24 h is its paid_at. */
  readonly period_start: string
  /** The end of its period. The period excludes this time. */
  readonly period_end: string
  /** Sum of `notional_minor` of its entries. */
  readonly gross_minor: number
  /** Sum of the provider's final fees of its entries. */
  readonly xendit_fees_minor: number
  /** Sum of the gateway's markups of its entries. */
  readonly hexolus_markup_minor: number
  /** The amount of the payout: gross less fees and markups. */
  readonly net_minor: number
  readonly currency: 'IDR'
  readonly payment_count: number
  /** `recorded` until an operator marks the transfer as made (`manual_paid`) or rejected (`failed`). */
  readonly status: 'recorded' | 'manual_paid' | 'failed'
  /** The daily sweep (`auto`), or an operator. */
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
  /** The transfer at our bank. Only of `settlement.paid`. */
  readonly bank_reference?: string
}

export type Entry = {
  readonly id: string
  /** What moved the money. */
  readonly type: 'payment' | 'refund' | 'chargeback' | 'reversal' | 'dispute_won' | 'late_row' | 'recredit' | 'recovered' | 'returned' | 'written_off' | 'correction'
  readonly payment_id?: string
  /** Only for a `recredit`: the failed settlement whose sums it credits again. */
  readonly recredited_settlement_id?: string
  /** Only for a `returned`: the paid settlement whose transfer came back. */
  readonly returned_settlement_id?: string
  /** The settlement that contains it. Null if it is not settled yet. */
  readonly settlement_id: string | null
  readonly external_reference?: string
  readonly method?: 'virtual_account' | 'ewallet' | 'qris'
  readonly channel_code?: string
  /** When the payment succeeded. */
  readonly paid_at?: string
  /** When the entry was written. */
  readonly posted_at: string
  /** From when a settlement may contain the entry. It is in the settlement with period_start <= eligible_at - 24 h < period_end. */
  readonly eligible_at: string
  /** What customers paid; if it is negative, what is taken back. Adjustments have one too. */
  readonly notional_minor: number
  /** The provider's final fee. */
  readonly xendit_fee_minor: number
  /** The gateway's markup. */
  readonly hexolus_markup_minor: number
  /** Your credit by this entry: notional less fee and markup. */
  readonly client_net_minor: number
  /** Only for a `recredit` in the balance: the net that it moves from a failed settlement to the next. Its other figures are zero there. */
  readonly carried_minor?: number
}

export type Statement = {
  /** The first day, a date in Asia/Jakarta (UTC+7). Days begin at 17:00 UTC. */
  readonly from: string
  /** The last day, a date in Asia/Jakarta (UTC+7). Days begin at 17:00 UTC. */
  readonly to: string
  /** What was owed to you at the end of the day before `from`. */
  readonly opening_minor: number
  readonly lines: readonly ({
    /** When the entry was written, or the payout was marked paid, in UTC. */
    readonly at: string
    /** What moved the money. */
    readonly type: 'payment' | 'refund' | 'chargeback' | 'reversal' | 'dispute_won' | 'late_row' | 'recovered' | 'returned' | 'written_off' | 'correction' | 'payout'
    readonly payment_id?: string
    /** The settlement that a `payout` paid, or whose transfer came back. */
    readonly settlement_id?: string
    readonly external_reference?: string
    /** The change of what is owed to you. Of a `payout` it is negative. */
    readonly amount_minor: number
  })[]
  /** What was owed to you at the end of `to`: `opening_minor` and all lines. On earlier pages it is null if a day of the statement can still change. */
  readonly closing_minor: number | null
  /** Lines before this time never change, and no line is added before it. */
  readonly final_until: string
  /** The `after` of the next page. Null on the last page. */
  readonly next: string | null
}

export type WebhookEndpoint = {
  readonly id: string
  readonly url: string
  /** `*` means all types except `payment.reversed`, `payment.disputed`, `payment.held`, `settlement.recorded`, `settlement.paid`, `settlement.failed`, which must be in the list itself. */
  readonly event_types: readonly ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payment.reversed' | 'payment.disputed' | 'payment.held' | 'settlement.recorded' | 'settlement.paid' | 'settlement.failed' | '*')[]
  /** A disabled endpoint gets no events. The operator can enable it. */
  readonly enabled: boolean
  readonly created_at: string
  /** When the endpoint last answered with a 2xx status, in UTC. Null if it answered none of its newest ten deliveries. */
  readonly last_answered_at: string | null
  /** Deliveries that wait for their next attempt after a failure or a delay. 100 means 100 or more. One in its first attempt is not counted. */
  readonly waiting: number
}

export type WebhookDelivery = {
  /** The `X-Gateway-Delivery-Id` of its webhooks. */
  readonly id: string
  /** The `event_id` in their body. It is the same for every endpoint and every attempt. */
  readonly event_id: string
  readonly event: string
  /** Absent unless the event is of a payment. */
  readonly payment_id?: string
  /** Absent unless the event is of a settlement. */
  readonly settlement_id?: string
  readonly endpoint_id: string
  readonly url: string
  /** `abandoned` after eight attempts of a round; `skipped` if the endpoint was disabled or deleted, or the event was lost (`event_gone`). */
  readonly status: 'scheduled' | 'succeeded' | 'abandoned' | 'skipped'
  /** Null if the delivery is not `scheduled`. */
  readonly next_attempt_at: string | null
  readonly created_at: string
  /** The newest 100, oldest first. A list may show fewer of each delivery, but always the newest. */
  readonly attempts: readonly ({
    readonly number: number
    readonly at: string
    readonly duration_ms: number
    /** Null if there was no answer. */
    readonly http_status: number | null
    /** Null if the attempt succeeded. */
    readonly error: 'http_status' | 'timeout' | 'connection' | 'tls' | 'dns' | 'address_refused' | 'secret_missing' | 'event_gone' | 'unknown' | null
    /** The first 1 KB of the answer of your server. */
    readonly response_body: string | null
  })[]
}

export type Redelivered = {
  /** The number of deliveries that were scheduled, again or for the first time. */
  readonly count: number
  /** The number of deliveries that already had ten rounds today. Send the request again after 00:00 UTC. Absent if there are none. */
  readonly passed_over?: number
  /** Send it as `cursor`, with the same `since` and `status`. Null if nothing is left. */
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
} | {
  readonly event: 'payment.disputed'
  /** The same in every attempt and at every endpoint. */
  readonly event_id: string
  /** The time of the event, not of the webhook. */
  readonly timestamp: string
  readonly data: DisputedData
} | {
  readonly event: 'payment.held'
  /** The same in every attempt and at every endpoint. */
  readonly event_id: string
  /** The time of the event, not of the webhook. */
  readonly timestamp: string
  readonly data: HeldData
} | {
  readonly event: 'settlement.recorded' | 'settlement.paid' | 'settlement.failed'
  /** The same in every attempt and at every endpoint. */
  readonly event_id: string
  /** The time of the event, not of the webhook. */
  readonly timestamp: string
  readonly data: SettlementData
}

export type EventList = {
  readonly data: readonly (Event)[]
  /** Send it as `after`. It is always present. Do not interpret it. */
  readonly next: string
  /** Whether there are more events after `next` now. */
  readonly has_more: boolean
}

export type Error = {
  /** A text for people. It may change: decide by `code`. */
  readonly message: string
  readonly code: 'auth' | 'forbidden' | 'not_found' | 'conflict' | 'validation' | 'rate_limit' | 'network' | 'server_error' | 'internal_error'
  /** The errors of each field or parameter. */
  readonly field_errors?: Readonly<Record<string, readonly (string)[]>>
  readonly action_hint?: string
}

/** An error from a proxy before the gateway: it has no envelope. An answer of a load balancer may not be JSON. */
export type PlatformError = {
  readonly message: string
}
