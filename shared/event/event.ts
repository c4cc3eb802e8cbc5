import * as v from 'valibot'
import { ClientIdSchema, EventIdSchema, PaymentIdSchema } from '../ids.ts'
import { TimestampSchema } from '../time.ts'

/** Events a payment can cause (spec 6.1). */
export const EVENT_TYPES = ['payment.succeeded', 'payment.failed', 'payment.expired'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** An operator's test: goes to one endpoint whatever its event types, and has no event row. */
export const TEST_EVENT_TYPE = 'gateway.test'

/** One logical fact, written by the transition that made it true. Holds the exact bytes every delivery will carry. */
export const EventSchema = v.object({
  eventId: EventIdSchema,
  type: v.picklist(EVENT_TYPES),
  clientId: ClientIdSchema,
  paymentId: PaymentIdSchema,
  firedAt: TimestampSchema,
  body: v.string(),
  /** Present until the event has been fanned out. */
  dueAt: v.optional(TimestampSchema),
})
export type Event = v.InferOutput<typeof EventSchema>
