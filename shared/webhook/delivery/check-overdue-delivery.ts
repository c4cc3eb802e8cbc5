import type { Deps } from '../../deps.ts'
import type { DeliveryId } from '../../ids.ts'
import { addMs } from '../../time.ts'
import {
  findDelivery,
  overdueAfterMs,
  postponeDelivery,
  sendDeliveryMessages,
} from './delivery-store.ts'

/**
 * Due work: sends an overdue attempt's message again. The delivery is claimed first, so a crash
 * costs one more wait. False: not claimed.
 */
export async function checkOverdueDelivery(
  deps: Pick<Deps, 'table' | 'queues' | 'now'>,
  deliveryId: DeliveryId,
): Promise<boolean> {
  const delivery = await findDelivery(deps, deliveryId)
  if (
    delivery?.status !== 'scheduled' ||
    delivery.dueAt === undefined ||
    delivery.dueAt > deps.now()
  )
    return false
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
  return true
}
