import * as v from 'valibot'
import { parseId } from '../../shared/field-errors.ts'
import { EndpointIdSchema, EventIdSchema } from '../../shared/ids.ts'
import { pageOf, pageParams, pagination } from '../../shared/page.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { DELIVERY_STATUSES } from '../../shared/webhook/delivery/delivery.ts'
import { toOwnDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { listDeliveries } from '../../shared/webhook/delivery/list-deliveries.ts'

const query = v.strictObject({
  ...pageParams,
  endpoint_id: v.optional(v.string()),
  event_id: v.optional(EventIdSchema),
  status: v.optional(
    v.picklist(DELIVERY_STATUSES, `status must be one of ${DELIVERY_STATUSES.join(', ')}`),
  ),
})

/** GET /v1/webhook_deliveries (design section 8). */
export const handler = apiHandler(
  { query, mostUnits: 1_200 },
  async ({ clientId, query: params }, deps) => {
    const page = pageOf(params)
    const { endpoint_id: id, event_id: eventId, status } = params
    const endpointId = id === undefined ? undefined : parseId(EndpointIdSchema, id, 'endpoint')
    const listing = { clientId, status, endpointId, eventId, page, maxRead: 1_000 }
    const { deliveries } = await listDeliveries(deps, listing)
    return ok({ data: deliveries.map(toOwnDeliveryDto), pagination: pagination(page) })
  },
)
