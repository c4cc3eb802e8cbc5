import * as v from 'valibot'
import { ClientIdSchema, DeliveryIdSchema, EndpointIdSchema, EventIdSchema } from '../../ids.ts'
import { WEBHOOK_ERRORS } from '../../send-webhook.ts'
import { TimestampSchema } from '../../time.ts'

export const DELIVERY_STATUSES = ['scheduled', 'succeeded', 'abandoned', 'skipped'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** An event on its way to one endpoint (spec 6.4). This row is the truth; a queue message only says "look". */
export const DeliverySchema = v.object({
  deliveryId: DeliveryIdSchema,
  eventId: EventIdSchema,
  eventType: v.string(),
  clientId: ClientIdSchema,
  endpointId: EndpointIdSchema,
  url: v.string(),
  status: v.picklist(DELIVERY_STATUSES),
  /** Attempts recorded so far; never reset. The next attempt's number is one more. */
  attempts: v.number(),
  /** Attempts that were made before the current round of eight. */
  roundStart: v.number(),
  /** Present while scheduled. */
  nextAttemptAt: v.optional(TimestampSchema),
  /** Present while a worker holds the next attempt. */
  claimToken: v.optional(v.string()),
  claimedUntil: v.optional(TimestampSchema),
  /** The exact bytes that are signed and sent, as UTF-8 text. */
  body: v.string(),
  createdAt: TimestampSchema,
  /** When the fact became true that it tells of: for a succeeded payment, when it was paid. */
  firedAt: TimestampSchema,
  /** How often due work has sent the current attempt again. */
  resends: v.optional(v.number(), 0),
  dueAt: v.optional(TimestampSchema),
})
export type Delivery = v.InferOutput<typeof DeliverySchema>

export const DeliveryAttemptSchema = v.object({
  number: v.number(),
  at: TimestampSchema,
  durationMs: v.number(),
  httpStatus: v.optional(v.number()),
  /** Absent on success. */
  error: v.optional(v.picklist(WEBHOOK_ERRORS)),
  /** First 1 KB of the answer, for diagnostics. */
  responseBody: v.optional(v.string()),
})
export type DeliveryAttempt = v.InferOutput<typeof DeliveryAttemptSchema>

/** What the webhooks queue carries. */
export const DeliveryMessageSchema = v.object({ delivery_id: DeliveryIdSchema, attempt: v.number() })
