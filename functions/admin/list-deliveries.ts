import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { requireClient } from '../../shared/client/client-store.ts'
import { EventIdSchema } from '../../shared/ids.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { DELIVERY_STATUSES } from '../../shared/webhook/delivery/delivery.ts'
import { toDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { listDeliveries } from '../../shared/webhook/delivery/list-deliveries.ts'
import { parseEndpointId } from '../../shared/webhook/endpoint/endpoint-dto.ts'

const summary =
  "A merchant's deliveries with their attempts, newest first: all, or those of a status, an endpoint or an event."
const input = v.pipe(
  v.strictObject({
    client_id: v.string(),
    status: v.optional(v.picklist(DELIVERY_STATUSES)),
    endpoint_id: v.optional(v.string()),
    event_id: v.optional(EventIdSchema),
    ...pageFields,
  }),
  v.check(
    ({ event_id, status, endpoint_id }) =>
      event_id === undefined || (status === undefined && endpoint_id === undefined),
    'event_id stands alone',
  ),
)

export const handler = adminHandler({ summary, input }, async (request, deps) => {
  const page = pageOf(request)
  const filter = {
    status: request.status,
    endpointId: request.endpoint_id === undefined ? undefined : parseEndpointId(request.endpoint_id),
    eventId: request.event_id,
  }
  const { clientId } = await requireClient(deps, parseClientId(request.client_id))
  const deliveries = await listDeliveries(deps, { clientId, filter, page, mostLooked: 5_000 })
  return { data: deliveries.map(toDeliveryDto), pagination: pagination(page) }
})
