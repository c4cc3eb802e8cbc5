import { adminHandler, ENDPOINT } from '../../shared/runtime/admin-handler.ts'
import { toDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { sendTestEvent } from '../../shared/webhook/delivery/send-test-event.ts'

export const handler = adminHandler(
  {
    summary:
      'Sends a `gateway.test` event to one endpoint; list-deliveries with its event_id shows the ' +
      'result.',
    input: ENDPOINT,
  },
  async (deps, request) =>
    toDeliveryDto({ delivery: await sendTestEvent(deps, request), attempts: [] }),
)
