import * as v from 'valibot'
import { ClientIdSchema, EndpointIdSchema, EventIdSchema, EventSubjectSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { toJson } from '../json.ts'
import { DAY_MS, type Timestamp, TimestampSchema } from '../time.ts'

/** Events of a payment's status (spec 6.1), at most one of each type for a payment. */
export const STATUS_EVENT_TYPES = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
] as const
/** A movement of a succeeded payment's money: a reversal or a return (design section 8). */
export const REVERSED_EVENT_TYPE = 'payment.reversed'
/** A dispute of a payment, or its next state (design section 14). */
export const DISPUTED_EVENT_TYPE = 'payment.disputed'
/** Money that names the payment is held in suspense, or what became of it (design section 8). */
export const HELD_EVENT_TYPE = 'payment.held'
/** A settlement and its payout (design section 8), at most one of each type for a settlement. */
export const SETTLEMENT_EVENT_TYPES = [
  'settlement.recorded',
  'settlement.paid',
  'settlement.failed',
] as const
export type SettlementEventType = (typeof SETTLEMENT_EVENT_TYPES)[number]
/** Only endpoints that name them get these (design section 8). */
export const OPT_IN_EVENT_TYPES = [
  REVERSED_EVENT_TYPE,
  DISPUTED_EVENT_TYPE,
  HELD_EVENT_TYPE,
  ...SETTLEMENT_EVENT_TYPES,
] as const
export const EVENT_TYPES = [...STATUS_EVENT_TYPES, ...OPT_IN_EVENT_TYPES] as const

export function isOptIn(type: string): boolean {
  return OPT_IN_EVENT_TYPES.some((name) => name === type)
}

export function isOfSuspense(type: string): boolean {
  return type === DISPUTED_EVENT_TYPE || type === HELD_EVENT_TYPE
}

export function typeOfEvent(name: string): string {
  return name.split('#', 1)[0] ?? name
}

/** Unique, because each (provider transaction, type) moves a payment once. */
export function reversedEventName(row: Readonly<Record<'transactionId' | 'type', string>>): string {
  return `${REVERSED_EVENT_TYPE}#${row.transactionId}#${row.type}`
}

/** Each state of a dispute is announced once. */
export function disputedEventName(caseId: string, state: string): string {
  return `${DISPUTED_EVENT_TYPE}#${caseId}#${state}`
}

/** Each status of held money is announced once. */
export function heldEventName(suspenseId: string, status: string): string {
  return `${HELD_EVENT_TYPE}#${suspenseId}#${status}`
}

export const EventNameSchema = v.pipe(
  v.string(),
  v.maxBytes(500),
  v.check((name) => EVENT_TYPES.some((type) => type === typeOfEvent(name))),
)

/** Sent to one endpoint, whatever its event types, and without a row. */
export const TEST_EVENT_TYPE = 'gateway.test'

/** One fact, written by the transition that made it true. */
export const EventFields = v.object({
  eventId: EventIdSchema,
  name: EventNameSchema,
  type: v.picklist(EVENT_TYPES),
  clientId: ClientIdSchema,
  subject: EventSubjectSchema,
  firedAt: TimestampSchema,
  body: v.string(),
  /** The same text may deflate to other bytes on another version of Node. */
  storedBody: v.optional(v.instance(Uint8Array)),
  /** The event's own transaction wrote deliveries to these endpoints. */
  endpointIds: v.optional(v.array(EndpointIdSchema), []),
})
export type Event = v.InferOutput<typeof EventFields>
export type EventPosition = Pick<Event, 'eventId' | 'name' | 'subject' | 'firedAt'>

/**
 * A delivery is kept after its end. An event is kept after it was last sent, and outlives its
 * deliveries.
 */
export const RETENTION = {
  deliveryMs: 90 * DAY_MS,
  eventMs: 120 * DAY_MS,
  keepMs: 100 * DAY_MS,
  feedMs: 90 * DAY_MS,
} as const

/** Built once (spec 6.2): every attempt to every endpoint signs and sends these bytes. */
export function envelopeBody(
  event: string,
  eventId: string,
  timestamp: Timestamp,
  data: object,
): string {
  return toJson({ event, event_id: eventId, timestamp, data })
}

const NamedClient = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ data: v.object({ client_id: v.string() }) }),
)

/** A row whose `owner` was altered reaches no other client, because the body decides. */
export function isBodyOf(clientId: string, body: string) {
  return ifValid(NamedClient, body)?.data.client_id === clientId
}
