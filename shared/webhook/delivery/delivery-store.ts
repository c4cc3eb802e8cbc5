import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import type { DeliveryId } from '../../ids.ts'
import { absent, all, atMost, type Condition, equals, isNew } from '../../table/condition.ts'
import { DUE_WORK_FIELDS, dueWork } from '../../table/due-work.ts'
import { attemptKey, attemptSkPrefix, deliveryKey } from '../../table/keys.ts'
import { put, type Step, update } from '../../table/step.ts'
import { addMs, type Timestamp } from '../../time.ts'
import { type Delivery, type DeliveryAttempt, DeliveryAttemptSchema, DeliverySchema } from './delivery.ts'
import { overdueAfterMs } from './retry-schedule.ts'

/** Second part of the lists' keys; the first is the endpoint's id. */
export const DELIVERY_ENTITY = 'delivery'

const SCHEDULE_FIELDS = ['nextAttemptAt', 'resends', ...DUE_WORK_FIELDS] as const
const CLAIM_FIELDS = ['claimToken', 'claimedUntil'] as const

/** Attempts shown of one delivery: the newest, in many rounds. */
const SHOWN_ATTEMPTS = 100

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

/** The attempts of a delivery, oldest first. */
export const listAttempts = async (
  deps: Pick<Deps, 'table'>,
  deliveryId: DeliveryId,
): Promise<readonly DeliveryAttempt[]> => {
  const { items } = await deps.table.query({
    partition: [deliveryKey(deliveryId).pk],
    range: { beginsWith: attemptSkPrefix },
    limit: SHOWN_ATTEMPTS,
    newestFirst: true,
  })
  return items.map((item) => v.parse(DeliveryAttemptSchema, item)).toReversed()
}

/** Puts a new delivery, unless it is there already. */
export const insertDelivery = (delivery: Delivery): Step =>
  put(
    deliveryKey(delivery.deliveryId),
    {
      ...delivery,
      owner: delivery.endpointId,
      entity: DELIVERY_ENTITY,
      listedAt: delivery.createdAt,
      id: delivery.deliveryId,
      ...(delivery.dueAt !== undefined && dueWork('delivery', delivery.deliveryId, delivery.dueAt)),
    },
    isNew,
  )

/** When the next attempt is due, and when due work looks whether its message was lost. */
const schedule = ({ deliveryId }: Delivery, nextAttemptAt: Timestamp) => ({
  status: 'scheduled',
  nextAttemptAt,
  ...dueWork('delivery', deliveryId, addMs(nextAttemptAt, overdueAfterMs(0))),
})

/** Nobody has made, or is making, the attempt after the ones this row had when it was read. */
const unclaimed = ({ attempts }: Delivery): Condition =>
  all(equals('status', 'scheduled'), equals('attempts', attempts), absent('claimToken'))

export type Claim = { readonly token: string; readonly until: Timestamp }

/**
 * Takes the next attempt's number, which can be taken once, ever. Answers the row with its claim, or undefined when
 * somebody else was first or it is not due. A claim of ours whose answer was lost refuses the SDK's second try: its
 * token says that it is ours all the same.
 */
export const claimAttempt = async (
  deps: Pick<Deps, 'table' | 'now'>,
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

export type AfterAttempt =
  | { readonly status: 'succeeded' }
  | { readonly status: 'scheduled'; readonly nextAttemptAt: Timestamp }
  | { readonly status: 'abandoned'; readonly alertDueAt: Timestamp }

const changesAfter = (delivery: Delivery, after: AfterAttempt) => {
  switch (after.status) {
    case 'succeeded':
      return { set: { status: after.status }, remove: [...CLAIM_FIELDS, ...SCHEDULE_FIELDS] }
    case 'scheduled':
      return { set: schedule(delivery, after.nextAttemptAt), remove: [...CLAIM_FIELDS, 'resends'] }
    case 'abandoned':
      return {
        set: { status: after.status, ...dueWork('alert', delivery.deliveryId, after.alertDueAt) },
        remove: [...CLAIM_FIELDS, 'nextAttemptAt', 'resends'],
      }
  }
}

/**
 * Writes the result of a claimed attempt and what follows from it, both or neither. False when the claim is no longer
 * the one given: its time ran out and another worker has recorded the attempt as lost.
 */
export const storeAttemptResult = async (
  deps: Pick<Deps, 'table'>,
  claimed: Delivery,
  attempt: DeliveryAttempt,
  after: AfterAttempt,
): Promise<boolean> => {
  assertInvariant(claimed.claimToken !== undefined, 'an attempt is recorded on its claim')
  const { set, remove } = changesAfter(claimed, after)
  const { applied } = await deps.table.transact({
    delivery: update(
      deliveryKey(claimed.deliveryId),
      { set: { ...set, attempts: attempt.number }, remove },
      all(equals('attempts', attempt.number - 1), equals('claimToken', claimed.claimToken)),
    ),
    attempt: put(attemptKey(claimed.deliveryId, attempt.number), attempt, isNew),
  })
  return applied
}

/** Ends a delivery whose endpoint is disabled or deleted. False when its attempt was claimed or made meanwhile. */
export const skipDelivery = async (deps: Pick<Deps, 'table'>, delivery: Delivery): Promise<boolean> => {
  const { applied } = await deps.table.write(
    update(
      deliveryKey(delivery.deliveryId),
      { set: { status: 'skipped' }, remove: SCHEDULE_FIELDS },
      unclaimed(delivery),
    ),
  )
  return applied
}

/** Starts a new round of attempts on a finished delivery. Refused when another round was started meanwhile. */
export const startRound = (delivery: Delivery, now: Timestamp): Step => {
  assertInvariant(delivery.status !== 'scheduled', 'a round starts where another has ended')
  return update(
    deliveryKey(delivery.deliveryId),
    { set: { ...schedule(delivery, now), roundStart: delivery.attempts }, remove: ['resends'] },
    all(equals('status', delivery.status), equals('attempts', delivery.attempts)),
  )
}

/** Claims a piece of due work by moving its due time forward. False when somebody else has, or it is done. */
export const postponeDelivery = async (
  deps: Pick<Deps, 'table'>,
  delivery: Delivery,
  dueAt: Timestamp,
  resends: number | undefined,
): Promise<boolean> => {
  const { applied } = await deps.table.write(
    update(
      deliveryKey(delivery.deliveryId),
      { set: { dueAt, resends } },
      all(equals('status', delivery.status), equals('dueAt', delivery.dueAt)),
    ),
  )
  return applied
}

/** The operators know: takes the alert off the due work. A new round's own due work is left alone. */
export const completeAlert = async (deps: Pick<Deps, 'table'>, { deliveryId, attempts }: Delivery): Promise<void> => {
  await deps.table.write(
    update(
      deliveryKey(deliveryId),
      { remove: DUE_WORK_FIELDS },
      all(equals('status', 'abandoned'), equals('attempts', attempts)),
    ),
  )
}
