import * as v from 'valibot'
import type { Alert } from '../../alerts.ts'
import { ClientIdSchema, DeliveryIdSchema, EndpointIdSchema } from '../../ids.ts'
import { TimestampSchema } from '../../time.ts'

/** One round of a delivery that came to nothing, by its last attempt. */
const NamedSchema = v.object({
  deliveryId: DeliveryIdSchema,
  createdAt: TimestampSchema,
  attempts: v.number(),
  /** When it was given up. */
  since: TimestampSchema,
})
export type Named = v.InferOutput<typeof NamedSchema>

const OfEndpoint = { clientId: ClientIdSchema, endpointId: EndpointIdSchema }

/**
 * A delivery that was given up and that the operators have not been told of; gone once they have. Due work finds it by
 * the delivery's row, which is due for its alert, or, once a new round has taken that place, by itself.
 */
export const AbandonmentSchema = v.object({
  ...OfEndpoint,
  ...NamedSchema.entries,
  dueAt: v.optional(TimestampSchema),
})
export type Abandonment = v.InferOutput<typeof AbandonmentSchema>

export type EndpointIds = Pick<Abandonment, keyof typeof OfEndpoint>

/** What the operators are told of one endpoint. */
export const AlertGroupSchema = v.object({
  ...OfEndpoint,
  /** The next message goes out no earlier. */
  nextAt: TimestampSchema,
  /** Present while a message may not be out yet, or its deliveries wait for their names to be taken off. */
  alertId: v.optional(v.string()),
  named: v.optional(v.array(NamedSchema), []),
  /** How long the message is left to the worker that has it. */
  claimedUntil: v.optional(TimestampSchema),
})
export type AlertGroup = v.InferOutput<typeof AlertGroupSchema>

/** A message of an endpoint in the hands of a worker. */
export type ClaimedAlert = EndpointIds & {
  readonly alertId: string
  readonly named: readonly Named[]
  readonly claimedUntil: Abandonment['since']
}

/** The same message every time it has to be published: by its id a reader knows that it came twice. */
export const alertOf = ({ clientId, endpointId, alertId, named }: ClaimedAlert): Alert => ({
  kind: 'delivery.abandoned',
  subject: endpointId,
  message:
    `To endpoint ${endpointId} of client ${clientId}, abandoned after their last attempt: ${named.length} ` +
    `${named.length === 1 ? 'delivery' : 'deliveries'}, the first at ${named[0]?.since}: ` +
    `${named.map(({ deliveryId }) => deliveryId).join(', ')}. The merchant does not know of these events until they ` +
    `are redelivered (redeliver, by endpoint_id and since, for all). Alert ${alertId}.`,
})
