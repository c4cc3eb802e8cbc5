import type { Deps } from '../../deps.ts'
import type { DeliveryId } from '../../ids.ts'
import { addMs, MINUTE_MS } from '../../time.ts'
import type { Delivery } from './delivery.ts'
import { completeAlert, findDelivery, postponeDelivery } from './delivery-store.ts'

type AlertDeps = Pick<Deps, 'table' | 'alerts' | 'log'>

/** How long due work leaves an alert to whoever abandoned the delivery, and waits between its own tries. */
export const ALERT_GRACE_MS = MINUTE_MS

/** True while an abandoned delivery's alert may not have reached the operators. */
export const needsAlert = ({ status, dueAt }: Delivery): boolean => status === 'abandoned' && dueAt !== undefined

/**
 * Tells the operators that a delivery was given up (spec 6.4), then takes the alert off the due work. Dying between
 * the two repeats the alert; it is never lost. Throws when it cannot be published: due work tries again.
 */
export const publishDeliveryAlert = async (deps: AlertDeps, delivery: Delivery): Promise<void> => {
  const { deliveryId, eventId, eventType, endpointId, clientId, attempts } = delivery
  await deps.alerts.publish({
    kind: 'delivery.abandoned',
    subject: deliveryId,
    message:
      `Delivery ${deliveryId} of event ${eventId} (${eventType}) to endpoint ${endpointId} of client ${clientId} ` +
      `was abandoned; attempts made: ${attempts}. The merchant does not know of this event until it is redelivered.`,
  })
  await completeAlert(deps, delivery)
  deps.log.info('alert.published', { delivery_id: deliveryId, endpoint_id: endpointId, client_id: clientId })
}

/** Due work `alert` of a delivery. Answers whether there was anything to do. */
export const checkDeliveryAlert = async (
  deps: AlertDeps & Pick<Deps, 'now'>,
  deliveryId: DeliveryId,
): Promise<boolean> => {
  const delivery = await findDelivery(deps, deliveryId)
  if (!delivery || !needsAlert(delivery) || (delivery.dueAt ?? '') > deps.now()) return false
  // Moved forward before publishing, so that one alert that cannot be published does not block those behind it.
  if (!(await postponeDelivery(deps, delivery, addMs(deps.now(), ALERT_GRACE_MS), undefined))) return false
  await publishDeliveryAlert(deps, delivery)
  return true
}
