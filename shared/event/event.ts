import * as v from 'valibot'
import { ClientIdSchema, EndpointIdSchema, EventIdSchema, PaymentIdSchema } from '../ids.ts'
import { clientOfOwner, EVENT_SK_PREFIX } from '../table/keys.ts'
import { TimestampSchema } from '../time.ts'

/** Events of a payment's status (spec 6.1), one of each for a payment. */
export const STATUS_EVENT_TYPES = ['payment.succeeded', 'payment.failed', 'payment.expired'] as const
export type StatusEventType = (typeof STATUS_EVENT_TYPES)[number]
/** A movement of a succeeded payment's money: a reversal or a return (design section 8). */
export const REVERSED_EVENT_TYPE = 'payment.reversed'
export const EVENT_TYPES = [...STATUS_EVENT_TYPES, REVERSED_EVENT_TYPE] as const

/** The type that an event's name begins with. */
export const typeOfEvent = (name: string): string => name.split('#', 1)[0] ?? name

/** The name of the event of one movement: each (provider transaction, type) moves a payment once. */
export const reversedEventName = ({ transactionId, type }: { transactionId: string; type: string }): string =>
  `${REVERSED_EVENT_TYPE}#${transactionId}#${type}`

/** What distinguishes the events of one payment. */
export const EventNameSchema = v.pipe(
  v.string(),
  v.maxLength(500),
  v.check((name) => EVENT_TYPES.some((type) => type === typeOfEvent(name))),
)

/** An operator's test: goes to one endpoint whatever its event types, and has no event row. */
export const TEST_EVENT_TYPE = 'gateway.test'

const Row = v.looseObject({ pk: v.string(), sk: v.string() })

/** Adds the fields that a row leaves out: its keys and index attributes contain them. */
const whole = (row: unknown): unknown => {
  const read = v.safeParse(Row, row)
  if (!read.success) return row
  const { pk, sk, id, owner, listedAt } = read.output
  const name = sk.slice(EVENT_SK_PREFIX.length)
  const said = {
    eventId: id,
    name,
    type: typeOfEvent(name),
    clientId: typeof owner === 'string' ? clientOfOwner(owner) : owner,
    paymentId: pk.slice(pk.indexOf('#') + 1),
    firedAt: listedAt,
  }
  return { ...said, ...read.output }
}

export const EventFields = v.object({
  eventId: EventIdSchema,
  name: EventNameSchema,
  type: v.picklist(EVENT_TYPES),
  clientId: ClientIdSchema,
  paymentId: PaymentIdSchema,
  firedAt: TimestampSchema,
  body: v.string(),
  /** The endpoints to which the event's own transaction wrote a delivery. */
  endpointIds: v.optional(v.array(EndpointIdSchema), []),
})

/** One fact, written by the transition that made it true. Holds the exact bytes that every delivery sends. */
export const EventSchema = v.pipe(v.unknown(), v.transform(whole), EventFields)
export type Event = v.InferOutput<typeof EventSchema>

/** The position of an event among those of its client, as its row and its index entries say. */
export const EventPositionSchema = v.pipe(
  v.unknown(),
  v.transform(whole),
  v.pick(EventFields, ['eventId', 'name', 'paymentId', 'firedAt']),
)
export type EventPosition = v.InferOutput<typeof EventPositionSchema>
