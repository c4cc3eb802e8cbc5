import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { expiresAfter, RETENTION } from '../../event/retention.ts'
import type { DeliveryId } from '../../ids.ts'
import { toItem } from '../../table/attributes.ts'
import { attemptKey, attemptSkPrefix, deliveryKey } from '../../table/keys.ts'
import { all, type Condition, dueWork, equals, isNew, put, update } from '../../table/step.ts'
import type { Timestamp } from '../../time.ts'
import { type Delivery, type DeliveryAttempt, DeliveryAttemptSchema, DeliverySchema } from './delivery.ts'
import { CLAIM_FIELDS, SCHEDULE_FIELDS, schedule, UNLISTED_FIELD } from './delivery-store.ts'

export type AfterAttempt =
  | { readonly status: 'succeeded' }
  | { readonly status: 'scheduled'; readonly nextAttemptAt: Timestamp }
  | { readonly status: 'abandoned'; readonly alertDueAt: Timestamp }

/** The most attempts shown of one delivery: the newest. */
const SHOWN_ATTEMPTS = 100

/**
 * The newest attempts of a delivery, oldest first: the one in the delivery itself, and those with rows of their own.
 */
export const attemptsOf = async (
  deps: Pick<Deps, 'table'>,
  { deliveryId, attempts, success }: Delivery,
  most = SHOWN_ATTEMPTS,
): Promise<readonly DeliveryAttempt[]> => {
  const held = success ? [success] : []
  if (attempts <= held.length) return held
  const made = [...(await listAttempts(deps, deliveryId, most)), ...held]
  return made.toSorted((a, b) => a.number - b.number).slice(-most)
}

/** The newest attempts of a delivery that have rows of their own, oldest first. */
export const listAttempts = async (
  deps: Pick<Deps, 'table'>,
  deliveryId: DeliveryId,
  most = SHOWN_ATTEMPTS,
): Promise<readonly DeliveryAttempt[]> => {
  const { items } = await deps.table.query({
    partition: [deliveryKey(deliveryId).pk],
    range: { beginsWith: attemptSkPrefix },
    limit: Math.min(most, SHOWN_ATTEMPTS),
    newestFirst: true,
  })
  return items.map((item) => v.parse(DeliveryAttemptSchema, item)).toReversed()
}

/** The last attempt sets until when the delivery is kept. */
const keptSince = ({ at }: DeliveryAttempt) => ({ ttl: expiresAfter(at, RETENTION.deliveryMs) })

const changesAfter = (delivery: Delivery, attempt: DeliveryAttempt, after: AfterAttempt) => {
  switch (after.status) {
    case 'succeeded':
      return { set: { status: after.status, ...keptSince(attempt) }, remove: [...CLAIM_FIELDS, ...SCHEDULE_FIELDS] }
    case 'scheduled': {
      const isLost = attempt.error === 'unknown'
      return {
        set: { ...schedule(delivery, after.nextAttemptAt), ...(isLost && { lostBefore: true }) },
        remove: [...CLAIM_FIELDS, 'resends', UNLISTED_FIELD, ...(isLost ? [] : ['lostBefore'])],
      }
    }
    case 'abandoned':
      return {
        set: {
          status: after.status,
          ...keptSince(attempt),
          ...dueWork('alert', delivery.deliveryId, after.alertDueAt),
        },
        remove: [...CLAIM_FIELDS, 'nextAttemptAt', 'resends', UNLISTED_FIELD],
      }
  }
}

const onItsClaim = ({ claimToken }: Delivery, { number }: DeliveryAttempt): Condition =>
  all(equals('attempts', number - 1), equals('claimToken', claimToken))

/**
 * Ends a delivery whose first attempt succeeded, in one write. A retry by the SDK after a lost answer is refused; only
 * this worker can have recorded this attempt as delivered.
 */
const storeFirstSuccess = async (
  deps: Pick<Deps, 'table'>,
  claimed: Delivery,
  attempt: DeliveryAttempt,
): Promise<boolean> => {
  const outcome = await deps.table.write(
    update(
      deliveryKey(claimed.deliveryId),
      {
        set: {
          [UNLISTED_FIELD]: 'succeeded',
          attempts: attempt.number,
          success: toItem(attempt),
          ...keptSince(attempt),
        },
        // Due work lists deliveries that take long.
        remove: [...CLAIM_FIELDS, ...SCHEDULE_FIELDS, 'status'],
      },
      onItsClaim(claimed, attempt),
    ),
  )
  return outcome.applied || (outcome.item && v.parse(DeliverySchema, outcome.item).success)?.number === attempt.number
}

/**
 * Writes the result of a claimed attempt and its consequences in one transaction. False when the claim has changed: it
 * expired, and another worker has recorded the attempt as lost.
 */
export const storeAttemptResult = async (
  deps: Pick<Deps, 'table'>,
  claimed: Delivery,
  attempt: DeliveryAttempt,
  after: AfterAttempt,
): Promise<boolean> => {
  assertInvariant(claimed.claimToken !== undefined, 'an attempt is recorded on its claim')
  if (claimed.unlisted && after.status === 'succeeded') return storeFirstSuccess(deps, claimed, attempt)
  const { set, remove } = changesAfter(claimed, attempt, after)
  const { applied } = await deps.table.transact({
    delivery: update(
      deliveryKey(claimed.deliveryId),
      { set: { ...set, attempts: attempt.number }, remove },
      onItsClaim(claimed, attempt),
    ),
    attempt: put(attemptKey(claimed.deliveryId, attempt.number), { ...attempt, ...keptSince(attempt) }, isNew),
  })
  return applied
}
