/* The bodies of the gateway's webhooks: types only, for receive-webhooks.ts. */

/** The fields of a payment that these types know. A webhook may have more: ignore them. */
export type PaymentData<Status = 'succeeded' | 'failed' | 'expired'> = {
  readonly id: string
  readonly status: Status
  readonly external_reference?: string
  readonly notional_minor: number
  readonly xendit_fee_minor: number
  readonly hexolus_markup_minor: number
  readonly client_net_minor: number
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  /** Why it failed: docs/merchants/payments.md has the reasons. */
  readonly failure_reason?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly paid_at?: string
}

type Envelope = { readonly event_id: string; readonly timestamp: string }

type StatusEvent = Envelope & {
  readonly event: 'payment.succeeded' | 'payment.failed' | 'payment.expired'
  readonly data: PaymentData
}

/** Money went back, or returned. Only endpoints that name this event, or the next one, get it. */
type ReversedEvent = Envelope & {
  readonly event: 'payment.reversed'
  readonly data: PaymentData & {
    readonly type: 'refund' | 'chargeback' | 'reversal' | 'dispute_won'
    readonly amount_minor: number
    readonly taken_back_minor: number
  }
}

type AnyStatus = PaymentData['status'] | 'pending' | 'cancelled'

/** `dispute`, or `held` for money that is not credited; the API's description has their fields. */
type SuspenseEvent = Envelope & {
  readonly event: 'payment.disputed' | 'payment.held'
  readonly data: PaymentData<AnyStatus> & { readonly dispute?: unknown; readonly held?: unknown }
}

export type PaymentEvent = StatusEvent | ReversedEvent | SuspenseEvent

/** A payout. Only endpoints that name these events get them. */
export type SettlementEvent = Envelope & {
  readonly event: 'settlement.recorded' | 'settlement.paid' | 'settlement.failed'
  readonly data: {
    readonly id: string
    readonly net_minor: number
    readonly notes: string | null
    /** The transfer at our bank, of `settlement.paid`. */
    readonly bank_reference?: string
  }
}

/** The operator tests the endpoint. No payment belongs to it. */
export type TestEvent = Envelope & {
  readonly event: 'gateway.test'
  readonly data: { readonly client_id: string; readonly endpoint_id: string }
}

export type WebhookEvent = PaymentEvent | SettlementEvent | TestEvent
