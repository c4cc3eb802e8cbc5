import * as v from 'valibot'
import type { Deps, StoreDeps } from '../../deps.ts'
import { expiresAfter, RETENTION } from '../../event/retention.ts'
import type { EndpointId } from '../../ids.ts'
import { absent, all, equals, exists, unchanged } from '../../table/condition.ts'
import { DUE_WORK_FIELDS, dueWork } from '../../table/due-work.ts'
import { ABANDONMENT_SK_PREFIX, abandonmentKey, alertGroupKey, alertsPk, deliveryKey } from '../../table/keys.ts'
import { put, remove, type Step, update } from '../../table/step.ts'
import type { Steps } from '../../table/table.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../time.ts'
import {
  type Abandonment,
  AbandonmentSchema,
  type AlertGroup,
  AlertGroupSchema,
  type ClaimedAlert,
  type Named,
} from './abandonment.ts'

/** At most one message about an endpoint in so long. */
const ALERT_EVERY_MS = 15 * MINUTE_MS

/** How long a message is left to whoever has claimed it: many times what publishing takes. */
export const ABANDONMENT_GRACE_MS = MINUTE_MS

/** Names in one message: far below what the topic takes (256 KB), and the list of them below what an item may hold. */
const MOST_NAMED = 2_000

type AbandonmentId = Parameters<typeof abandonmentKey>[0]

/** Rides in the transaction that abandons the delivery. */
export const putAbandonment = (abandonment: Abandonment): Step => put(abandonmentKey(abandonment), abandonment)

/** Due by itself from now on. Rides in the transaction that takes it off the delivery's row. */
export const freeAbandonment = (of: AbandonmentId, dueAt: Timestamp): Step =>
  update(abandonmentKey(of), { set: { id: of.deliveryId, ...dueWork('alert', of.deliveryId, dueAt) } }, exists)

/** Looked at again then. Refused when it has been told meanwhile, or somebody else has moved it. */
export const postponeAbandonment = async (
  deps: Pick<Deps, 'table'>,
  abandonment: Abandonment,
  dueAt: Timestamp,
): Promise<boolean> => {
  const step = update(abandonmentKey(abandonment), { set: { dueAt } }, equals('dueAt', abandonment.dueAt))
  return (await deps.table.write(step)).applied
}

/** The operators have been told of it. */
export const removeAbandonment = (deps: Pick<Deps, 'table'>, told: AbandonmentId) =>
  deps.table.write(remove(abandonmentKey(told), exists))

/** What the operators have not been told of an endpoint, oldest first, as much as fits into one message. */
export const listAbandonments = async (
  deps: Pick<Deps, 'table'>,
  endpointId: EndpointId,
): Promise<readonly Abandonment[]> => {
  const { items } = await deps.table.query({
    partition: [alertsPk(endpointId)],
    range: { beginsWith: ABANDONMENT_SK_PREFIX },
    limit: MOST_NAMED,
  })
  return items.map((item) => v.parse(AbandonmentSchema, item))
}

export const findAlertGroup = async (
  deps: Pick<Deps, 'table'>,
  endpointId: EndpointId,
): Promise<AlertGroup | undefined> => {
  const item = await deps.table.get(alertGroupKey(endpointId))
  return item && v.parse(AlertGroupSchema, item)
}

/** From then on until the next message; the row goes when nothing has been abandoned for as long as deliveries stay. */
const closedFrom = (now: Timestamp) => ({
  nextAt: addMs(now, ALERT_EVERY_MS),
  ttl: expiresAfter(now, RETENTION.deliveryMs),
})

/**
 * Takes the endpoint's next message, with all that it will ever name. False when another one is on its way, or went out
 * meanwhile. A claim of ours whose answer was lost refuses the SDK's second try: its id says that it is ours.
 */
export const claimAlert = async (
  deps: StoreDeps,
  group: AlertGroup | undefined,
  alert: ClaimedAlert,
): Promise<boolean> => {
  const { applied, item } = await deps.table.write(
    update(
      alertGroupKey(alert.endpointId),
      { set: { ...alert, ...closedFrom(deps.now()) } },
      all(absent('alertId'), unchanged('nextAt', group?.nextAt)),
    ),
  )
  return applied || item?.['alertId'] === alert.alertId
}

/** Takes over a message whose worker has died. False when somebody else has, or it has come to its end. */
export const takeOverAlert = async (
  deps: StoreDeps,
  { endpointId, alertId, claimedUntil }: ClaimedAlert,
  until: Timestamp,
): Promise<boolean> => {
  const { applied } = await deps.table.write(
    update(
      alertGroupKey(endpointId),
      { set: { claimedUntil: until, ...closedFrom(deps.now()) } },
      all(equals('alertId', alertId), equals('claimedUntil', claimedUntil)),
    ),
  )
  return applied
}

/**
 * Ends a message together with the first of what it named: as long as the message is open something of it is due, and
 * the worker that looks at it continues the message. A new round may have taken the row. False when another worker has taken the message over.
 */
export const closeAlert = async (
  deps: StoreDeps,
  { endpointId, alertId, claimedUntil }: ClaimedAlert,
  named: Named,
): Promise<boolean> => {
  const group = update(
    alertGroupKey(endpointId),
    { set: closedFrom(deps.now()), remove: ['alertId', 'named', 'claimedUntil'] },
    all(equals('alertId', alertId), equals('claimedUntil', claimedUntil)),
  )
  const row = endAlert(named)
  const first = remove(abandonmentKey({ endpointId, ...named }), exists)
  const ends: readonly Steps<'group' | 'row' | 'first'>[] = [
    { group, row, first },
    { group, row: undefined, first },
  ]
  for (const steps of ends) {
    const outcome = await deps.table.transact(steps)
    if (outcome.applied || outcome.refusedBy === 'group') return outcome.applied
  }
  return false
}

/** The row of an abandoned delivery no longer says that the operators must be told. A new round's due work stays. */
export const endAlert = ({ deliveryId, attempts }: Pick<Named, 'deliveryId' | 'attempts'>): Step =>
  update(
    deliveryKey(deliveryId),
    { remove: DUE_WORK_FIELDS },
    all(equals('status', 'abandoned'), equals('attempts', attempts)),
  )

/** Asked before a delivery is abandoned: whether its own message may go out at once, else when it will be looked at. */
export const alertTimes = (
  group: AlertGroup | undefined,
  now: Timestamp,
): { readonly isQuiet: boolean; readonly dueAt: Timestamp } => {
  // Where others wait, due work gathers them: one that came last must not go out alone and close the door on them.
  const isQuiet = group === undefined || (group.alertId === undefined && addMs(group.nextAt, ALERT_EVERY_MS) <= now)
  if (isQuiet) return { isQuiet, dueAt: addMs(now, ABANDONMENT_GRACE_MS) }
  const mayAt = group.claimedUntil ?? group.nextAt
  return { isQuiet, dueAt: mayAt > now ? mayAt : now }
}
