import type { Deps } from '../../deps.ts'
import type { DeliveryId } from '../../ids.ts'
import { addMs } from '../../time.ts'
import { findDelivery, overdueAfterMs, postponeDelivery, sendDeliveryMessage } from './delivery-store.ts'

/**
 * Due work `delivery`: sends the message of an overdue attempt again. A worker may die between recording a failure and
 * sending the next message, or a queue may lose it; the row remains. The claim comes first: a crash after it costs one
 * more wait, and a message too many is harmless. Answers whether it sent.
 */
export const checkOverdueDelivery = async (
  deps: Pick<Deps, 'table' | 'queues' | 'now'>,
  deliveryId: DeliveryId,
): Promise<boolean> => {
  const delivery = await findDelivery(deps, deliveryId)
  if (delivery?.status !== 'scheduled' || delivery.dueAt === undefined || delivery.dueAt > deps.now()) return false
  const resends = delivery.resends + 1
  const dueAt = addMs(deps.now(), overdueAfterMs(resends))
  if (!(await postponeDelivery(deps, delivery, dueAt, resends))) return false
  try {
    // The endpoint's lane is not known here. The worker that reads the endpoint moves the message if necessary.
    await sendDeliveryMessage(deps, delivery, 'normal', 0)
  } catch (error) {
    // No message was sent, so the wait does not double: the next try is in a minute.
    await postponeDelivery(deps, { ...delivery, dueAt }, addMs(deps.now(), overdueAfterMs(0)), delivery.resends)
    throw error
  }
  return true
}
