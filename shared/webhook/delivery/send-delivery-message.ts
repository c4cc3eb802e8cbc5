import type { Deps } from '../../deps.ts'
import type { QueueMessage } from '../../queues.ts'
import type { Lane } from '../endpoint/endpoint.ts'
import type { Delivery } from './delivery.ts'

/**
 * Sends the message of a delivery's next attempt. The endpoint is the message group, so a busy one delays no other. The
 * message names its lane, so that a worker of that lane does not send it on.
 */
const messageOf = (
  { deliveryId, clientId, endpointId, attempts }: Delivery,
  lane: Lane,
  delaySeconds: number,
): QueueMessage => ({
  body: {
    delivery_id: deliveryId,
    attempt: attempts + 1,
    client_id: clientId,
    endpoint_id: endpointId,
    ...(lane === 'slow' && { slow: true }),
  },
  delaySeconds,
  group: endpointId,
})

const send = (deps: Pick<Deps, 'queues'>, lane: Lane, messages: readonly QueueMessage[]): Promise<void> =>
  lane === 'slow' ? deps.queues.send('webhooks-slow', ...messages) : deps.queues.send('webhooks', ...messages)

/** Sends the message of a delivery's next attempt with a delay. */
export const sendDeliveryMessage = (
  deps: Pick<Deps, 'queues'>,
  delivery: Delivery,
  lane: Lane,
  delaySeconds: number,
): Promise<void> => send(deps, lane, [messageOf(delivery, lane, delaySeconds)])

export type InLane = { readonly delivery: Delivery; readonly lane: Lane }

/** Sends the messages of several deliveries at once, in few requests. */
export const sendDeliveryMessages = async (
  deps: Pick<Deps, 'queues'>,
  deliveries: readonly InLane[],
): Promise<void> => {
  const messages = (wanted: Lane) =>
    deliveries.flatMap(({ delivery, lane }) => (lane === wanted ? [messageOf(delivery, lane, 0)] : []))
  const lanes = (['normal', 'slow'] as const).filter((lane) => messages(lane).length > 0)
  await Promise.all(lanes.map((lane) => send(deps, lane, messages(lane))))
}
