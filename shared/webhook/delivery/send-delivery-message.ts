import type { Deps } from '../../deps.ts'
import type { QueueMessage } from '../../queues.ts'
import type { Delivery } from './delivery.ts'

/** Tells workers to look at a delivery's next attempt. The endpoint is the message group: a dead one starves no other. */
const messageOf = ({ deliveryId, clientId, endpointId, attempts }: Delivery, delaySeconds: number): QueueMessage => ({
  body: { delivery_id: deliveryId, attempt: attempts + 1, client_id: clientId, endpoint_id: endpointId },
  delaySeconds,
  group: endpointId,
})

/** Has a delivery's next attempt looked at after a delay. */
export const sendDeliveryMessage = (
  deps: Pick<Deps, 'queues'>,
  delivery: Delivery,
  delaySeconds: number,
): Promise<void> => deps.queues.send('webhooks', messageOf(delivery, delaySeconds))

/** Has several deliveries looked at now, with fewer requests than one for each. */
export const sendDeliveryMessages = (deps: Pick<Deps, 'queues'>, deliveries: readonly Delivery[]): Promise<void> =>
  deps.queues.send('webhooks', ...deliveries.map((delivery) => messageOf(delivery, 0)))
