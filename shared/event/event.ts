import * as v from 'valibot'
import { ClientIdSchema, EventIdSchema, PaymentIdSchema } from '../ids.ts'
import { clientOfOwner, EVENT_SK_PREFIX } from '../table/keys.ts'
import { TimestampSchema } from '../time.ts'

/** Events a payment can cause (spec 6.1). */
export const EVENT_TYPES = ['payment.succeeded', 'payment.failed', 'payment.expired'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** An operator's test: goes to one endpoint whatever its event types, and has no event row. */
export const TEST_EVENT_TYPE = 'gateway.test'

const Row = v.looseObject({ pk: v.string(), sk: v.string() })

/** Adds what a row leaves out: its keys and its places in the indexes say it. */
const whole = (row: unknown): unknown => {
  const read = v.safeParse(Row, row)
  if (!read.success) return row
  const { pk, sk, id, owner, listedAt } = read.output
  const said = {
    eventId: id,
    type: sk.slice(EVENT_SK_PREFIX.length),
    clientId: typeof owner === 'string' ? clientOfOwner(owner) : owner,
    paymentId: pk.slice(pk.indexOf('#') + 1),
    firedAt: listedAt,
  }
  return { ...said, ...read.output }
}

export const EventFields = v.object({
  eventId: EventIdSchema,
  type: v.picklist(EVENT_TYPES),
  clientId: ClientIdSchema,
  paymentId: PaymentIdSchema,
  firedAt: TimestampSchema,
  body: v.string(),
})

/** One logical fact, written by the transition that made it true. Holds the exact bytes every delivery will carry. */
export const EventSchema = v.pipe(v.unknown(), v.transform(whole), EventFields)
export type Event = v.InferOutput<typeof EventSchema>

/** Where an event stands among those of its client, as its row and its entries in the indexes say. */
export const EventPositionSchema = v.pipe(
  v.unknown(),
  v.transform(whole),
  v.pick(EventFields, ['eventId', 'type', 'paymentId', 'firedAt']),
)
export type EventPosition = v.InferOutput<typeof EventPositionSchema>
