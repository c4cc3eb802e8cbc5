import * as v from 'valibot'
import { PAYMENT_METHODS } from '../../../../shared/payment-status.ts'

export const TextOrNull = v.nullable(v.string())
export const NumberOrNull = v.nullable(v.number())
export const Unreadable = { unreadable_ids: v.optional(v.array(v.string()), []) }
const AnyText = v.nullish(v.string())
const OptionalText = v.optional(v.string())

const Attempt = v.object({
  ...texts('at'),
  ...numbers('number', 'duration_ms'),
  http_status: NumberOrNull,
  error: TextOrNull,
  response_body: TextOrNull,
})

const DeliveryFields = v.object({
  ...texts('event', 'url', 'status', 'created_at'),
  next_attempt_at: TextOrNull,
  attempts: v.array(Attempt),
})
export type DeliveryFields = v.InferOutput<typeof DeliveryFields>
const DeliverySchema = v.object({ ...texts('delivery_id'), ...DeliveryFields.entries })

export const OwnDeliverySchema = v.object({
  ...texts('id', 'event_id'),
  payment_id: OptionalText,
  ...DeliveryFields.entries,
})

const PaymentSchema = v.object({
  ...texts('id', 'status', 'method', 'created_at'),
  ...numbers('notional_minor'),
  external_reference: AnyText,
  channel_code: AnyText,
})

/** The answer of get-payment, for a payment that has a destination. */
export const TimelineSchema = v.object({
  ...PaymentSchema.entries,
  ...texts('fee_status', 'payment_destination', 'payment_request_id'),
  ...numbers('xendit_fee_minor', 'hexolus_markup_minor', 'client_net_minor'),
  paid_at: AnyText,
  expires_at: AnyText,
  failure_reason: OptionalText,
  reversal: v.optional(v.object({ ...texts('kind', 'at'), ...numbers('amount_minor') })),
  timeline: v.object({
    provider_attempts: v.array(
      v.object({ ...texts('started_at', 'outcome'), ...numbers('number'), code: TextOrNull }),
    ),
    transitions: v.array(
      v.object({ ...texts('status', 'at', 'source'), failure_reason: OptionalText }),
    ),
    events: v.array(
      v.object({ ...texts('event', 'fired_at'), deliveries: v.array(DeliverySchema) }),
    ),
    settlements: v.array(v.object({ ...texts('settlement_id', 'status'), settled_at: TextOrNull })),
    suspense: v.array(v.object(texts('suspense_id', 'kind', 'cause', 'created_at'))),
  }),
})

export const PaymentsSchema = v.object({
  ...listOf(PaymentSchema).entries,
  pagination: v.optional(v.object({ page: v.optional(v.number()), total: v.optional(v.number()) })),
  cursor: OptionalText,
})
export const PaidPaymentsSchema = v.object({
  ...listOf(
    v.object({
      ...texts('id', 'paid_at', 'fee_status'),
      method: v.picklist(PAYMENT_METHODS),
      ...numbers('notional_minor', 'xendit_fee_minor', 'hexolus_markup_minor', 'client_net_minor'),
      channel_code: AnyText,
      reversal: v.optional(v.object({ ...numbers('amount_minor'), undone_at: OptionalText })),
    }),
  ).entries,
  pagination: v.object(numbers('page', 'total')),
})
export const ClientSchema = v.object(texts('client_id', 'name'))
export const ClientsSchema = v.object({ ...listOf(ClientSchema).entries, ...Unreadable })
export const DeliveriesSchema = v.object({ ...listOf(DeliverySchema).entries, ...Unreadable })
export const EndpointsSchema = listOf(
  v.object({
    ...texts('endpoint_id', 'url'),
    event_types: v.array(v.string()),
    enabled: v.boolean(),
  }),
)
export const SettlementSchema = v.object({
  ...texts('id', 'status', 'period_start', 'period_end'),
  ...numbers('net_minor', 'payment_count'),
})
export const SettlementsSchema = listOf(SettlementSchema)
const EntrySchema = v.object({
  ...texts('id', 'type', 'posted_at'),
  ...numbers('notional_minor', 'xendit_fee_minor', 'hexolus_markup_minor', 'client_net_minor'),
  payment_id: OptionalText,
  settlement_id: TextOrNull,
  external_reference: OptionalText,
})
export const EntriesSchema = v.object({ ...listOf(EntrySchema).entries, next: TextOrNull })
export const EventsSchema = listOf(v.looseObject(texts('event_id')))
export const BalanceSchema = v.object(
  numbers('pending_minor', 'available_minor', 'in_settlement_minor', 'paid_out_minor'),
)
export const BooksSchema = v.object({
  balanced: v.boolean(),
  ...texts('from', 'to'),
  figures: v.array(v.object({ ...texts('name', 'source'), ...numbers('amount_minor') })),
})
export const ReceivedSchema = v.array(
  v.object({
    ...texts('at', 'body'),
    headers: v.record(v.string(), v.unknown()),
    signature_valid: v.nullable(v.boolean()),
  }),
)
export const FaultMenuSchema = v.object({
  faults: v.array(
    v.object({ ...texts('target', 'fault', 'does'), value: v.optional(v.unknown()) }),
  ),
})
export const ArmedSchema = v.array(v.object({ ...texts('target', 'fault'), ...numbers('times') }))
export const ClockSchema = v.object(texts('now'))
export const CreatedSchema = v.object(texts('id'))

export function texts<const Name extends string>(...names: readonly Name[]) {
  return v.entriesFromList(names, v.string())
}

export function numbers<const Name extends string>(...names: readonly Name[]) {
  return v.entriesFromList(names, v.number())
}

export const PER_PAGE = 100

type Listed = {
  readonly data: readonly unknown[]
  readonly unreadable_ids?: readonly string[]
  readonly pagination?: { readonly page?: number | undefined; readonly total?: number | undefined }
}

/** A page is shorter by rows that cannot be read: the list names them, or its total counts them. */
export function hasNext({ data, unreadable_ids: ids = [], pagination = {} }: Listed) {
  const { page = 1, total } = pagination
  return total === undefined ? data.length + ids.length >= PER_PAGE : page * PER_PAGE < total
}

function listOf<const Item extends v.GenericSchema>(item: Item) {
  return v.object({ data: v.array(item) })
}

/** `message`: of a refusal, for the page. */
export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly body: unknown
  readonly message: string
}

export type Delivery = v.InferOutput<typeof DeliverySchema>

export type Timeline = v.InferOutput<typeof TimelineSchema>
