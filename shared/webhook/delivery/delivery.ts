import * as v from 'valibot'
import {
  ClientIdSchema,
  DeliveryIdSchema,
  EndpointIdSchema,
  EventIdSchema,
  EventSubjectSchema,
} from '../../ids.ts'
import { WEBHOOK_ERRORS } from '../../send-webhook.ts'
import { FromItem } from '../../table/attributes.ts'
import { idOf, isTestKey } from '../../table/keys.ts'
import { TimestampSchema } from '../../time.ts'

export const DELIVERY_STATUSES = ['scheduled', 'succeeded', 'abandoned', 'skipped'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export const DeliveryAttemptSchema = v.object({
  number: v.number(),
  at: TimestampSchema,
  durationMs: v.number(),
  httpStatus: v.optional(v.number()),
  error: v.optional(v.picklist(WEBHOOK_ERRORS)),
  responseBody: v.optional(v.string()),
})
export type DeliveryAttempt = v.InferOutput<typeof DeliveryAttemptSchema>

/**
 * The delivery of an event to one endpoint (spec 6.4). The row decides; a queue message only names
 * it.
 */
export const DeliverySchema = v.pipe(
  v.unknown(),
  v.transform(withIndexFields),
  v.object({
    deliveryId: DeliveryIdSchema,
    eventId: EventIdSchema,
    /** The event's type, and what distinguishes several events of one type. */
    eventName: v.string(),
    clientId: ClientIdSchema,
    endpointId: EndpointIdSchema,
    url: v.string(),
    status: v.picklist(DELIVERY_STATUSES),
    /** No attempt has failed yet, or the last succeeded: no index entry has its status. */
    unlisted: v.optional(v.literal(true)),
    /** The row's key says so. Its body is its own, and it has no event. */
    isTest: v.optional(v.literal(true)),
    /** Absent for a test event. */
    subject: v.optional(EventSubjectSchema),
    /** Attempts recorded so far; never reset. The next attempt's number is one more. */
    attempts: v.number(),
    roundStart: v.number(),
    /** Rounds that were begun on one UTC day, and that day. */
    rounds: v.optional(v.number()),
    roundsOn: v.optional(v.string()),
    nextAttemptAt: v.optional(TimestampSchema),
    claimToken: v.optional(v.string()),
    claimedUntil: v.optional(TimestampSchema),
    /** The last attempt was lost with its worker. */
    lostBefore: v.optional(v.literal(true)),
    /** Other deliveries send the bytes of their event. */
    body: v.optional(v.string()),
    /** The first attempt of an unlisted row, if it succeeded. Other attempts have own rows. */
    success: v.optional(v.pipe(FromItem, DeliveryAttemptSchema)),
    createdAt: TimestampSchema,
    /** When the announced fact became true: for a succeeded payment, when it was paid. */
    firedAt: TimestampSchema,
    resends: v.optional(v.number(), 0),
    dueAt: v.optional(TimestampSchema),
  }),
)
export type Delivery = v.InferOutput<typeof DeliverySchema>

/** `status` puts the row into the list of that status; `state` does not. */
function withIndexFields(row: unknown): unknown {
  // The key alone says whose row it is.
  const { isTest: _, pk, owner: endpointId, listedAt: createdAt, state, ...own } = Object(row)
  const listing = own.status === undefined ? { status: state, unlisted: true } : {}
  const ids = { deliveryId: idOf(String(pk)), endpointId, createdAt, ...listing }
  return { firedAt: createdAt, ...own, ...ids, ...(isTestKey({ pk }) && { isTest: true }) }
}

export const DeliveryMessageSchema = v.pipe(
  FromItem,
  v.object({
    deliveryId: DeliveryIdSchema,
    attempt: v.number(),
    clientId: ClientIdSchema,
    endpointId: EndpointIdSchema,
    slow: v.optional(v.boolean()),
    test: v.optional(v.boolean()),
  }),
)
export type DeliveryMessage = v.InferOutput<typeof DeliveryMessageSchema>
