import * as v from 'valibot'

const Text = v.nullish(v.string())

const Attempt = v.object({
  number: v.number(),
  at: v.string(),
  duration_ms: v.number(),
  http_status: v.nullable(v.number()),
  error: v.nullable(v.string()),
  response_body: v.nullable(v.string()),
})

const Sent = v.object({
  event: v.string(),
  url: v.string(),
  status: v.string(),
  next_attempt_at: v.nullable(v.string()),
  created_at: v.string(),
  attempts: v.array(Attempt),
})
const DeliverySchema = v.object({ delivery_id: v.string(), ...Sent.entries })
export type Delivery = v.InferOutput<typeof DeliverySchema>

/** A delivery as the merchant's API shows it. */
export const OwnDeliverySchema = v.object({
  id: v.string(),
  event_id: v.string(),
  payment_id: v.optional(v.string()),
  ...Sent.entries,
})

const PaymentSchema = v.object({
  id: v.string(),
  status: v.string(),
  external_reference: Text,
  method: v.string(),
  channel_code: Text,
  notional_minor: v.number(),
  created_at: v.string(),
})

/** The answer of get-payment, for a payment that has a destination. */
export const TimelineSchema = v.object({
  ...PaymentSchema.entries,
  xendit_fee_minor: v.number(),
  hexolus_markup_minor: v.number(),
  client_net_minor: v.number(),
  fee_status: v.string(),
  payment_destination: v.string(),
  paid_at: Text,
  expires_at: Text,
  failure_reason: v.optional(v.string()),
  payment_request_id: v.string(),
  reversal: v.optional(v.object({ kind: v.string(), amount_minor: v.number(), at: v.string() })),
  timeline: v.object({
    provider_attempts: v.array(
      v.object({ number: v.number(), started_at: v.string(), outcome: v.string(), code: v.nullable(v.string()) }),
    ),
    transitions: v.array(
      v.object({ status: v.string(), at: v.string(), source: v.string(), failure_reason: v.optional(v.string()) }),
    ),
    events: v.array(v.object({ event: v.string(), fired_at: v.string(), deliveries: v.array(DeliverySchema) })),
    settlements: v.array(
      v.object({ settlement_id: v.string(), status: v.string(), settled_at: v.nullable(v.string()) }),
    ),
    suspense: v.array(
      v.object({ suspense_id: v.string(), kind: v.string(), cause: v.string(), created_at: v.string() }),
    ),
  }),
})
export type Timeline = v.InferOutput<typeof TimelineSchema>

const listOf = <const Item extends v.GenericSchema>(item: Item) => v.object({ data: v.array(item) })

export const PaymentsSchema = v.object({
  ...listOf(PaymentSchema).entries,
  pagination: v.optional(v.object({ total: v.optional(v.number()) })),
  cursor: v.optional(v.string()),
})
export const ClientsSchema = listOf(v.object({ client_id: v.string(), name: v.string() }))
export const DeliveriesSchema = listOf(DeliverySchema)
export const EndpointsSchema = listOf(
  v.object({ endpoint_id: v.string(), url: v.string(), event_types: v.array(v.string()), enabled: v.boolean() }),
)
export const SettlementSchema = v.object({
  id: v.string(),
  status: v.string(),
  net_minor: v.number(),
  payment_count: v.number(),
  period_start: v.string(),
  period_end: v.string(),
})
export const SettlementsSchema = listOf(SettlementSchema)
export const EntriesSchema = v.object({
  ...listOf(
    v.object({
      id: v.string(),
      type: v.string(),
      payment_id: v.optional(v.string()),
      settlement_id: v.nullable(v.string()),
      external_reference: v.optional(v.string()),
      posted_at: v.string(),
      notional_minor: v.number(),
      xendit_fee_minor: v.number(),
      hexolus_markup_minor: v.number(),
      client_net_minor: v.number(),
    }),
  ).entries,
  next: v.nullable(v.string()),
})
export const EventsSchema = listOf(v.looseObject({ event_id: v.string() }))
export const SuspenseListSchema = listOf(
  v.object({
    suspense_id: v.string(),
    kind: v.string(),
    cause: v.string(),
    amount_minor: v.nullable(v.number()),
    payment_id: v.nullable(v.string()),
  }),
)
export const BalanceSchema = v.object({
  pending_minor: v.number(),
  available_minor: v.number(),
  in_settlement_minor: v.number(),
  paid_out_minor: v.number(),
})
export const BooksSchema = v.object({
  balanced: v.boolean(),
  figures: v.array(v.object({ name: v.string(), amount_minor: v.number() })),
})
export const ReceivedSchema = v.array(
  v.object({
    at: v.string(),
    headers: v.record(v.string(), v.unknown()),
    body: v.string(),
    signature_valid: v.nullable(v.boolean()),
  }),
)
export const FaultMenuSchema = v.object({
  faults: v.array(v.object({ target: v.string(), fault: v.string(), value: v.optional(v.unknown()) })),
})
export const ArmedSchema = v.array(
  v.object({ target: v.string(), fault: v.string(), times: v.number(), value: v.optional(v.unknown()) }),
)
export const ClockSchema = v.object({ now: v.string() })
export const CreatedSchema = v.object({ id: v.string() })
