import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import type { Deps } from '../../deps.ts'
import type { DeliveryId } from '../../ids.ts'
import type { Item } from '../../table/attributes.ts'
import { addMs, type Timestamp } from '../../time.ts'
import {
  AbandonmentSchema,
  type AlertGroup,
  alertOf,
  type ClaimedAlert,
  type EndpointIds,
  type Named,
} from './abandonment.ts'
import {
  ABANDONMENT_GRACE_MS,
  claimAlert,
  closeAlert,
  endAlert,
  findAlertGroup,
  listAbandonments,
  postponeAbandonment,
  removeAbandonment,
  takeOverAlert,
} from './abandonment-store.ts'
import type { Delivery } from './delivery.ts'
import { findDelivery, freeAlert, postponeDelivery } from './delivery-store.ts'

type AlertDeps = Pick<Deps, 'table' | 'alerts' | 'log' | 'now' | 'newId'>

/** Writes side by side; each named delivery takes two. */
const AT_A_TIME = 25

/**
 * Tells the operators of every delivery to an endpoint that was given up (spec 6.4), in one message, at most one in
 * fifteen minutes (design section 11). What a message names is written down before it goes out: a worker that dies on the
 * way is followed, a minute later, by one that publishes the same message under the same id, and of two workers at once
 * one publishes. Nothing is taken off the due work before it was told.
 *
 * Answers when to look again, if the time for a message has not come or another worker has it. Throws when the message
 * cannot be published: due work tries again.
 */
export const tellAbandonments = async (deps: AlertDeps, endpoint: EndpointIds): Promise<Timestamp | undefined> => {
  const group = await findAlertGroup(deps, endpoint.endpointId)
  const mayAt = group?.claimedUntil ?? group?.nextAt
  if (mayAt !== undefined && mayAt > deps.now()) return mayAt
  const alert = await claimNext(deps, endpoint, group)
  // Thawed behind the end of its claim: another worker has the message.
  if (alert === undefined || alert.claimedUntil <= deps.now()) return undefined
  await deps.alerts.publish(alertOf(alert))
  await takeOff(deps, alert)
  const { clientId, endpointId, alertId, named } = alert
  const ids = { alert_id: alertId, endpoint_id: endpointId, client_id: clientId }
  deps.log.info('alert.published', { ...ids, deliveries: named.length })
  return undefined
}

const claimNext = async (
  deps: AlertDeps,
  { clientId, endpointId }: EndpointIds,
  group: AlertGroup | undefined,
): Promise<ClaimedAlert | undefined> => {
  const claimedUntil = addMs(deps.now(), ABANDONMENT_GRACE_MS)
  if (group?.alertId !== undefined && group.claimedUntil !== undefined) {
    const open = { ...group, alertId: group.alertId, claimedUntil: group.claimedUntil }
    return (await takeOverAlert(deps, open, claimedUntil)) ? { ...open, claimedUntil } : undefined
  }
  const waiting = await listAbandonments(deps, endpointId)
  if (waiting.length === 0) return undefined
  const named = waiting.map(({ deliveryId, createdAt, attempts, since }) => ({
    deliveryId,
    createdAt,
    attempts,
    since,
  }))
  const alert = { clientId, endpointId, alertId: deps.newId(), named, claimedUntil }
  return (await claimAlert(deps, group, alert)) ? alert : undefined
}

/** The operators know. The first goes last, with the message. */
const takeOff = async (deps: AlertDeps, alert: ClaimedAlert): Promise<void> => {
  const [first, ...others] = alert.named
  if (first === undefined) return
  await mapInChunks(others, AT_A_TIME, async (one: Named) => {
    await deps.table.write(endAlert(one))
    await removeAbandonment(deps, { endpointId: alert.endpointId, ...one })
  })
  await closeAlert(deps, alert, first)
}

/** Due work `alert` of an abandoned delivery, which waits by its row. Answers whether there was anything to do. */
export const checkAbandonedDelivery = async (deps: AlertDeps, deliveryId: DeliveryId): Promise<boolean> => {
  const delivery = await findDelivery(deps, deliveryId)
  if (!delivery || !needsAlert(delivery) || (delivery.dueAt ?? '') > deps.now()) return false
  const again = await tellAbandonments(deps, delivery)
  if (again !== undefined) await postponeDelivery(deps, delivery, again, undefined)
  return again === undefined
}

/** The same of one whose row a new round has taken. */
export const checkAbandonment = async (deps: AlertDeps, item: Item): Promise<boolean> => {
  const abandonment = v.parse(AbandonmentSchema, item)
  const again = await tellAbandonments(deps, abandonment)
  if (again !== undefined) await postponeAbandonment(deps, abandonment, again)
  return again === undefined
}

/** True while the operators may not have been told of an abandoned delivery. */
export const needsAlert = ({ status, dueAt }: Delivery): boolean => status === 'abandoned' && dueAt !== undefined

/**
 * Before a new round takes a row's place in the due work: an alert that is still owed by it stands by itself from then
 * on. False when none is.
 */
export const freeOwedAlert = async (deps: Pick<Deps, 'table'>, delivery: Delivery): Promise<boolean> => {
  const { dueAt } = delivery
  if (!needsAlert(delivery) || dueAt === undefined) return false
  return (await deps.table.transact(freeAlert(delivery, dueAt))).applied
}
