import * as v from 'valibot'
import { invalid } from '../../errors.ts'
import { AnyTimeSchema, type Timestamp } from '../../time.ts'
import { DELIVERY_STATUSES, type DeliveryStatus } from './delivery.ts'

const FINISHED_STATUSES = DELIVERY_STATUSES.filter((status) => status !== 'scheduled')
export type FinishedStatus = Exclude<DeliveryStatus, 'scheduled'>

/** What an operator says to have deliveries sent again (design section 7). */
export const REDELIVER_FIELDS = {
  delivery_id: v.optional(v.string()),
  endpoint_id: v.optional(v.string()),
  since: v.optional(AnyTimeSchema),
  status: v.optional(v.picklist(FINISHED_STATUSES)),
  cursor: v.optional(v.string()),
}

type Fields = { readonly [Name in keyof typeof REDELIVER_FIELDS]?: v.InferOutput<(typeof REDELIVER_FIELDS)[Name]> }

type Target =
  | { readonly form: 'delivery'; readonly deliveryId: string }
  | {
      readonly form: 'endpoint'
      readonly endpointId: string
      readonly since: Timestamp
      readonly status: FinishedStatus | undefined
      readonly cursor: string | undefined
    }

/** The two forms of it: one delivery, or what an endpoint did not get since a time. Anything between is a 422. */
export const redeliverTarget = (fields: Fields): Target => {
  const { delivery_id: deliveryId, endpoint_id: endpointId, since, status, cursor } = fields
  const namesEndpoint = [endpointId, since, status, cursor].some((field) => field !== undefined)
  if (deliveryId !== undefined && !namesEndpoint) return { form: 'delivery', deliveryId }
  if (deliveryId === undefined && endpointId !== undefined && since !== undefined) {
    return { form: 'endpoint', endpointId, since, status, cursor }
  }
  const reason = 'give delivery_id alone, or endpoint_id and since'
  throw invalid(`body: ${reason}`, { body: [reason] }, 'status and cursor go with endpoint_id and since.')
}
