import type { Deps } from '../../deps.ts'
import { addMs, msBetween } from '../../time.ts'
import { findEndpoint } from '../endpoint/endpoint-store.ts'
import type { Delivery } from './delivery.ts'
import { overdueAfterMs, postponeDelivery, sendDeliveryMessages } from './delivery-store.ts'

type OverdueDeps = Pick<Deps, 'table' | 'queues' | 'now' | 'log'>

/**
 * Due work: sends an overdue attempt's message again. The delivery is claimed first, so a crash
 * costs one more wait. False: not claimed.
 */
export async function checkOverdueDelivery(
  deps: OverdueDeps,
  delivery: Delivery,
): Promise<boolean> {
  // An abandoned delivery's row is due for its alert.
  if (delivery.status !== 'scheduled') return false
  const resends = delivery.resends + 1
  const dueAt = addMs(deps.now(), overdueAfterMs(resends))
  if (!(await postponeDelivery(deps, delivery, dueAt, resends))) return false
  try {
    // The worker that reads the endpoint moves the message to its lane.
    await sendDeliveryMessages(deps, [{ delivery, lane: 'normal' }])
  } catch (error) {
    // No message was sent, so the wait does not double: the next try is in a minute.
    await postponeDelivery(
      deps,
      { ...delivery, dueAt },
      addMs(deps.now(), overdueAfterMs(0)),
      delivery.resends,
    )
    throw error
  }
  await noteOverdue(deps, delivery)
  return true
}

/**
 * The due time no longer says how long the merchant waits. Throws if no worker can read the
 * endpoint.
 */
async function noteOverdue(deps: OverdueDeps, delivery: Delivery) {
  const { deliveryId, clientId, endpointId, nextAttemptAt = deps.now() } = delivery
  const endpoint = await findEndpoint(deps, delivery)
  // Messages for a slow endpoint may wait in their queue.
  if (endpoint?.slowSince !== undefined) return
  deps.log.warn('delivery.overdue', {
    delivery_id: deliveryId,
    endpoint_id: endpointId,
    client_id: clientId,
    overdue_ms: msBetween(nextAttemptAt, deps.now()),
  })
}
