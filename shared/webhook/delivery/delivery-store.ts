import * as v from 'valibot'
import type { Deps, StoreDeps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { expiresAfter, RETENTION } from '../../event/retention.ts'
import type { DeliveryId } from '../../ids.ts'
import { deliveryKey } from '../../table/keys.ts'
import {
  absent,
  all,
  any,
  atMost,
  type Condition,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  isNew,
  put,
  type Step,
  unchanged,
  update,
} from '../../table/step.ts'
import { addMs, type Timestamp } from '../../time.ts'
import { type Delivery, DeliverySchema, type DeliveryStatus } from './delivery.ts'
import { overdueAfterMs } from './retry-schedule.ts'

/** The second part of the lists' keys; the first is the endpoint's id. */
export const DELIVERY_ENTITY = 'delivery'

export const SCHEDULE_FIELDS = ['nextAttemptAt', 'resends', ...DUE_WORK_FIELDS] as const
/** The state that keeps a row out of the list of its status. A failure puts the row into that list. */
export const UNLISTED_FIELD = 'state'
export const CLAIM_FIELDS = ['claimToken', 'claimedUntil'] as const

/** Reads a delivery, strongly consistent. */
export const findDelivery = async (
  deps: Pick<Deps, 'table'>,
  deliveryId: DeliveryId,
): Promise<Delivery | undefined> => {
  const item = await deps.table.get(deliveryKey(deliveryId))
  return item && v.parse(DeliverySchema, item)
}

/** Deliveries in the order asked for; missing ones are left out. */
export const findDeliveries = async (
  deps: Pick<Deps, 'table'>,
  ids: readonly DeliveryId[],
): Promise<readonly Delivery[]> => {
  const items = await deps.table.getMany(ids.map(deliveryKey))
  return items.flatMap((item) => (item ? [v.parse(DeliverySchema, item)] : []))
}

const itemOf = ({ status, unlisted, ...delivery }: Delivery) => ({
  ...delivery,
  ...(unlisted ? { state: status } : { status }),
  ...(status === 'skipped' && { ttl: expiresAfter(delivery.createdAt, RETENTION.deliveryMs) }),
  owner: delivery.endpointId,
  entity: DELIVERY_ENTITY,
  listedAt: delivery.createdAt,
  id: delivery.deliveryId,
  ...(delivery.dueAt !== undefined && dueWork('delivery', delivery.deliveryId, delivery.dueAt)),
})

/** Writes a delivery together with its new event, whose condition covers both. */
export const putDelivery = (delivery: Delivery): Step => put(deliveryKey(delivery.deliveryId), itemOf(delivery))

/** Writes a new delivery unless it exists already. */
export const insertDelivery = (delivery: Delivery): Step =>
  put(deliveryKey(delivery.deliveryId), itemOf(delivery), isNew)

/** When the next attempt is due, and when due work checks whether its message was lost. */
export const schedule = ({ deliveryId }: Delivery, nextAttemptAt: Timestamp) => ({
  status: 'scheduled',
  nextAttemptAt,
  ...dueWork('delivery', deliveryId, addMs(nextAttemptAt, overdueAfterMs(0))),
})

const isStatus = (status: DeliveryStatus): Condition => any(equals('status', status), equals(UNLISTED_FIELD, status))

/** No worker has made or claimed the attempt that follows those on this row. */
const unclaimed = ({ attempts }: Delivery): Condition =>
  all(isStatus('scheduled'), equals('attempts', attempts), absent('claimToken'))

export type Claim = { readonly token: string; readonly until: Timestamp }

/**
 * Claims the next attempt's number, which can be claimed once. Answers the row with its claim; undefined when another
 * worker was first or it is not due. When our claim's answer was lost and the SDK's retry is refused, the token shows
 * that the claim is ours.
 */
export const claimAttempt = async (
  deps: StoreDeps,
  delivery: Delivery,
  claim: Claim,
): Promise<Delivery | undefined> => {
  const outcome = await deps.table.write(
    update(
      deliveryKey(delivery.deliveryId),
      { set: { claimToken: claim.token, claimedUntil: claim.until } },
      all(unclaimed(delivery), atMost('nextAttemptAt', deps.now())),
    ),
  )
  const ours = outcome.applied || outcome.item?.['claimToken'] === claim.token
  return ours ? v.parse(DeliverySchema, outcome.item) : undefined
}

/** Ends a delivery whose endpoint is disabled or deleted. False when its attempt was claimed or made meanwhile. */
export const skipDelivery = async (deps: StoreDeps, delivery: Delivery): Promise<boolean> => {
  const { applied } = await deps.table.write(
    update(
      deliveryKey(delivery.deliveryId),
      {
        set: { status: 'skipped', ttl: expiresAfter(deps.now(), RETENTION.deliveryMs) },
        remove: [...SCHEDULE_FIELDS, UNLISTED_FIELD],
      },
      unclaimed(delivery),
    ),
  )
  return applied
}

/** The most rounds of one delivery that may be begun on one UTC day. */
export const ROUNDS_A_DAY = 10

const utcDay = (at: Timestamp): string => at.slice(0, 10)

const roundsToday = ({ rounds = 0, roundsOn }: Delivery, now: Timestamp): number =>
  roundsOn === utcDay(now) ? rounds : 0

export const mayBeginRound = (delivery: Delivery, now: Timestamp): boolean => roundsToday(delivery, now) < ROUNDS_A_DAY

/**
 * Starts a new round of attempts on a finished delivery and counts it. Refused when another round was begun meanwhile.
 * A skipped round leaves status and attempts unchanged; the count distinguishes it.
 */
export const startRound = (delivery: Delivery, now: Timestamp): Step => {
  assertInvariant(delivery.status !== 'scheduled', 'a round starts where another has ended')
  assertInvariant(mayBeginRound(delivery, now), 'a delivery has some rounds a day')
  return update(
    deliveryKey(delivery.deliveryId),
    {
      set: {
        ...schedule(delivery, now),
        roundStart: delivery.attempts,
        rounds: roundsToday(delivery, now) + 1,
        roundsOn: utcDay(now),
      },
      remove: ['lostBefore', 'resends', 'ttl', UNLISTED_FIELD],
    },
    all(
      isStatus(delivery.status),
      equals('attempts', delivery.attempts),
      unchanged('rounds', delivery.rounds),
      unchanged('roundsOn', delivery.roundsOn),
    ),
  )
}

/** Claims due work by moving its due time forward. False when another worker has claimed it, or it is done. */
export const postponeDelivery = async (
  deps: Pick<Deps, 'table'>,
  delivery: Delivery,
  dueAt: Timestamp,
  resends: number | undefined,
): Promise<boolean> => {
  const { applied } = await deps.table.write(
    update(
      deliveryKey(delivery.deliveryId),
      // Overdue deliveries are listed, because operators look for them.
      { set: { dueAt, resends, status: delivery.status }, remove: [UNLISTED_FIELD] },
      all(isStatus(delivery.status), equals('dueAt', delivery.dueAt)),
    ),
  )
  return applied
}

/** Marks that operators know of it. A new round's due work stays. */
export const endAlert = ({ deliveryId, attempts }: Delivery): Step =>
  update(
    deliveryKey(deliveryId),
    { remove: DUE_WORK_FIELDS },
    all(equals('status', 'abandoned'), equals('attempts', attempts)),
  )
