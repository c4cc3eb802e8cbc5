import type { Alert } from '../../alerts.ts'
import { chunks, mapInChunks } from '../../chunks.ts'
import type { Deps, StoreDeps } from '../../deps.ts'
import type { DeliveryId } from '../../ids.ts'
import { addMs, later, MINUTE_MS, type Timestamp } from '../../time.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { findEndpointEver, noteAlert, takeBackAlert } from '../endpoint/endpoint-store.ts'
import type { Delivery } from './delivery.ts'
import { endAlert, findDeliveries, findDelivery, postponeDelivery } from './delivery-store.ts'
import { newestAbandoned } from './newest-keys.ts'

export type TellDeps = StoreDeps & Pick<Deps, 'alerts' | 'log'>

/** At most one message about an endpoint in so long, unless a redelivery brings it forward. */
export const ALERT_EVERY_MS = 15 * MINUTE_MS
/** Deliveries of one message; what is left has a message of its own. */
const MOST_TOLD = 2_500
/** Abandoned deliveries that are looked at for one message, newest first. An older one has a message of its own. */
const MOST_LOOKED = 10_000
const LOOK_PAGE = 500
const MOST_NAMED = 500
/** Writes side by side. */
const AT_A_TIME = 25

/** When the operators are to be told of a delivery that is abandoned now. */
export const alertDueAt = (endpoint: Pick<Endpoint, 'lastAlertAt'> | undefined, now: Timestamp): Timestamp =>
  endpoint?.lastAlertAt === undefined ? now : later(now, addMs(endpoint.lastAlertAt, ALERT_EVERY_MS))

/** True while the operators may not have been told of an abandoned delivery. */
export const needsAlert = ({ status, dueAt }: Delivery): boolean => status === 'abandoned' && dueAt !== undefined

const alertOf = ({ clientId, endpointId }: Delivery, told: readonly Delivery[]): Alert => {
  const named = told.slice(0, MOST_NAMED).map(({ deliveryId }) => deliveryId)
  const others = told.length - named.length
  return {
    kind: 'delivery.abandoned',
    subject: endpointId,
    message:
      `To endpoint ${endpointId} of client ${clientId}, abandoned after their last attempt: ${told.length} ` +
      `${told.length === 1 ? 'delivery' : 'deliveries'}: ${named.join(', ')}` +
      `${others > 0 ? ` and ${others} more` : ''}. The merchant does not know of these events. All of them: ` +
      `list-deliveries {"client_id": "${clientId}", "endpoint_id": "${endpointId}", "status": "abandoned"}; ` +
      'redeliver by endpoint_id and since sends them again.',
  }
}

/** What the operators have not been told of the delivery's endpoint, this delivery first. */
const untoldOf = async (deps: TellDeps, delivery: Delivery): Promise<readonly Delivery[]> => {
  const ids = await newestAbandoned(deps, delivery.endpointId, MOST_LOOKED)
  const others = ids.filter((id) => id !== delivery.deliveryId)
  const untold = [delivery]
  for (const some of chunks(others, LOOK_PAGE)) {
    untold.push(...(await findDeliveries(deps, some)).filter(needsAlert))
    if (untold.length >= MOST_TOLD) break
  }
  return untold.slice(0, MOST_TOLD)
}

/** Always another time than the last: of two workers in one millisecond, or on clocks that differ, one moves it. */
const movedFrom = (endpoint: Endpoint | undefined, now: Timestamp): Timestamp =>
  endpoint?.lastAlertAt === undefined ? now : later(now, addMs(endpoint.lastAlertAt, 1))

/** One worker tells of an endpoint at a time. */
type Told = 'told' | 'by_another'

/**
 * Tells the operators of all deliveries to an endpoint that were abandoned and not told (spec 6.4, design section 11), in
 * one message. Who moves the endpoint's `last_alert_at` tells. The rows are noted after the message: a worker that dies
 * between them is followed by one that tells once more, nothing is lost. Throws when the message cannot be published.
 */
const tell = async (deps: TellDeps, delivery: Delivery, endpoint: Endpoint | undefined): Promise<Told> => {
  const at = movedFrom(endpoint, deps.now())
  if (endpoint && !(await noteAlert(deps, endpoint, at))) return 'by_another'
  const told = await untoldOf(deps, delivery)
  try {
    await deps.alerts.publish(alertOf(delivery, told))
  } catch (error) {
    // Due work tries again each minute, and not in a quarter of an hour.
    if (endpoint) await takeBackAlert(deps, endpoint, at)
    throw error
  }
  await mapInChunks(told, AT_A_TIME, (one) => deps.table.write(endAlert(one)))
  deps.log.info('alert.published', {
    endpoint_id: delivery.endpointId,
    client_id: delivery.clientId,
    deliveries: told.length,
  })
  return 'told'
}

const endpointOf = (deps: TellDeps, { clientId, endpointId }: Delivery): Promise<Endpoint | undefined> =>
  findEndpointEver(deps, clientId, endpointId)

/** Due work `alert` of an abandoned delivery. Answers whether it told. */
export const checkAbandoned = async (deps: TellDeps, deliveryId: DeliveryId): Promise<boolean> => {
  const delivery = await findDelivery(deps, deliveryId)
  if (!delivery || !needsAlert(delivery) || (delivery.dueAt ?? '') > deps.now()) return false
  const endpoint = await endpointOf(deps, delivery)
  const mayAt = alertDueAt(endpoint, deps.now())
  if (mayAt > deps.now()) {
    await postponeDelivery(deps, delivery, mayAt, undefined)
    return false
  }
  return (await tell(deps, delivery, endpoint)) === 'told'
}

/** Of one endpoint each redelivery meets the message of another at most a few times. */
const MAX_TRIES = 4

/**
 * Before a new round takes a row's place in the due work: what is outstanding of its endpoint is told now. Answers the
 * delivery as it then is; undefined when somebody else began a round of it meanwhile.
 */
export const tellFirst = async (deps: TellDeps, met: Delivery): Promise<Delivery | undefined> => {
  let delivery = met
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if (!needsAlert(delivery)) return delivery
    // A message about another delivery of the endpoint may have named it since it was read.
    const current = await findDelivery(deps, delivery.deliveryId)
    if (current?.status !== delivery.status || current.attempts !== delivery.attempts) return undefined
    delivery = current
    if (needsAlert(delivery)) await tell(deps, delivery, await endpointOf(deps, delivery))
  }
  throw new Error('others kept telling of an endpoint while a round was begun')
}
