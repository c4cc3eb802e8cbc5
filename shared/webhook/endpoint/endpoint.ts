import * as v from 'valibot'
import { EVENT_TYPES, isOptIn } from '../../event/event.ts'
import { ClientIdSchema, EndpointIdSchema } from '../../ids.ts'
import { TimestampSchema } from '../../time.ts'

/** The events of the specification. The others go only to endpoints that name them. */
export const ALL_EVENTS = '*'

/** Only the delivery worker reads an endpoint's secret (spec 2.4). */
export const EndpointSchema = v.object({
  endpointId: EndpointIdSchema,
  clientId: ClientIdSchema,
  url: v.string(),
  /** A name that only a later release knows matches no event of this release. */
  eventTypes: v.array(v.string()),
  enabled: v.boolean(),
  createdAt: TimestampSchema,
  deletedAt: v.optional(TimestampSchema),
  /** When the endpoint began to hold workers without an answer; absent once it answers again. */
  slowSince: v.optional(TimestampSchema),
  lastAlertAt: v.optional(TimestampSchema),
})
export type Endpoint = v.InferOutput<typeof EndpointSchema>

/** The secret is absent from a row that lost it. */
export const SealedEndpointSchema = v.object({
  ...EndpointSchema.entries,
  sealedSecret: v.optional(v.string()),
})
export type SealedEndpoint = v.InferOutput<typeof SealedEndpointSchema>

export const EndpointEventTypeSchema = v.picklist([...EVENT_TYPES, ALL_EVENTS])

export function subscribes({ eventTypes }: Endpoint, type: string): boolean {
  return eventTypes.some((wanted) => wanted === type || (wanted === ALL_EVENTS && !isOptIn(type)))
}

/** Endpoints that hold workers have a queue of their own. */
export type Lane = 'normal' | 'slow'

export function laneOf(endpoint: Pick<Endpoint, 'slowSince'> | undefined): Lane {
  return endpoint?.slowSince === undefined ? 'normal' : 'slow'
}
