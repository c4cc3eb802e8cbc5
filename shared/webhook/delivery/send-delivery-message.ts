import type { Deps } from '../../deps.ts'
import type { Delivery } from './delivery.ts'

/** Tells a worker to look at a delivery's next attempt. The endpoint is the message group: a dead one starves no other. */
export const sendDeliveryMessage = (
  deps: Pick<Deps, 'queues'>,
  { deliveryId, endpointId, attempts }: Delivery,
  delaySeconds: number,
): Promise<void> =>
  deps.queues.send('webhooks', {
    body: { delivery_id: deliveryId, attempt: attempts + 1 },
    delaySeconds,
    group: endpointId,
  })
