import * as v from 'valibot'
import { assertInvariant } from '../../errors.ts'
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

const Status = v.picklist(DELIVERY_STATUSES)

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
    /** `status` puts the row into the list of that status; `state` does not. */
    status: v.optional(Status),
    state: v.optional(Status),
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
  v.transform(({ status: listedStatus, state, ...row }) => {
    const status = listedStatus ?? state
    assertInvariant(status !== undefined, 'a delivery has a status')
    return { ...row, status, ...(listedStatus === undefined && { unlisted: true as const }) }
  }),
)
function withIndexFields(row: unknown): unknown {
  // The key alone says whose row it is.
  const { isTest: _, pk, owner: endpointId, listedAt: createdAt, ...own } = Object(row)
  const ids = { deliveryId: idOf(String(pk)), endpointId, createdAt }
  return { firedAt: createdAt, ...own, ...ids, ...(isTestKey({ pk }) && { isTest: true }) }
}

/** `unlisted`: no attempt has failed yet, or the last succeeded: no index entry has its status. */
export type Delivery = v.InferOutput<typeof DeliverySchema>

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
