import * as v from 'valibot'
import type { ActionRequest } from '../../action-request.ts'
import { invalid, invalidField } from '../../errors.ts'
import { errorOf, optionalField, shownField } from '../../field-errors.ts'
import { readBody } from '../../json.ts'
import { AnyTimeSchema } from '../../time.ts'
import { DELIVERY_STATUSES } from './delivery.ts'
import type { RedeliveredDto } from './own-delivery-dto-schema.ts'

const FINISHED_STATUSES = DELIVERY_STATUSES.filter((status) => status !== 'scheduled')

export const RedeliverFields = v.object({
  delivery_id: v.optional(v.string()),
  endpoint_id: v.optional(v.string()),
  since: v.optional(AnyTimeSchema),
  status: v.optional(v.picklist(FINISHED_STATUSES)),
  cursor: v.optional(v.string()),
})

export type Redelivered = {
  readonly count: number
  /** Matching deliveries that have no round left today. */
  readonly passedOver: number
  readonly unreadableIds: readonly string[]
  readonly next: string | undefined
}

/** One delivery, or what an endpoint did not get since a time. Anything else is a 422. */
export function redeliverTarget({
  deliveryId,
  ...endpointFields
}: ActionRequest<v.InferOutput<typeof RedeliverFields>>) {
  const { endpointId, since, status, cursor } = endpointFields
  if (deliveryId === undefined && endpointId !== undefined && since !== undefined) {
    return { endpointId, since, status, cursor }
  }
  if (
    deliveryId !== undefined &&
    Object.values(endpointFields).every((field) => field === undefined)
  )
    return { deliveryId }
  throw invalidField(
    'body',
    'give delivery_id alone, or endpoint_id and since',
    'Use status and cursor only with endpoint_id and since.',
  )
}

export const RedeliverBodySchema = v.strictObject({
  since: AnyTimeSchema,
  /** Only deliveries of this status; by default all that the endpoint did not get. */
  status: optionalField(
    v.picklist(FINISHED_STATUSES, `must be one of ${FINISHED_STATUSES.join(', ')}`),
  ),
  cursor: optionalField(v.string()),
})

export type SinceRequest = v.InferOutput<typeof RedeliverBodySchema>

export function parseRedeliverBody(rawBody: Buffer): SinceRequest {
  const json = readBody(rawBody)
  if (!json.ok) throw invalid(`invalid JSON body: ${json.reason}`)
  const body = v.safeParse(RedeliverBodySchema, json.value, { abortEarly: true })
  if (body.success) return body.output
  const { field: path, message } = errorOf(body.issues[0])
  const field = shownField(path)
  throw invalid(`invalid JSON body: ${field}: ${message}`, { [field]: [message] })
}

export function toRedeliveredDto({ count, passedOver }: Redelivered): Omit<RedeliveredDto, 'next'> {
  return { count, ...(passedOver > 0 && { passed_over: passedOver }) }
}
