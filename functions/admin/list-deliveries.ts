import * as v from 'valibot'
import { requireClient } from '../../shared/client/client-store.ts'
import { EventIdSchema } from '../../shared/ids.ts'
import { listDto, pageFields } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { DELIVERY_STATUSES } from '../../shared/webhook/delivery/delivery.ts'
import { toDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { listDeliveries } from '../../shared/webhook/delivery/list-deliveries.ts'

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

export const handler = adminHandler(
  {
    summary:
      "A merchant's deliveries with their attempts, newest first: all, or those of a status, an " +
      'endpoint or an event. `complete` says whether all were read.',
    input,
  },
  async (deps, request) => {
    const { clientId, status, endpointId, eventId, ...page } = request
    await requireClient(deps, clientId)
    const listing = { clientId, status, endpointId, eventId, page, maxRead: 5_000 }
    const { deliveries, complete, ...read } = await listDeliveries(deps, listing)
    return { ...listDto(deliveries.map(toDeliveryDto), read, page), complete }
  },
)
