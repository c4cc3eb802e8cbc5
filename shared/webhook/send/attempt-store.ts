import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { RETENTION } from '../../event/event.ts'
import { toItem } from '../../table/attributes.ts'
import { attemptKey, testAttemptKey } from '../../table/keys.ts'
import { absent, all, dueWork, equals, put, update } from '../../table/step.ts'
import { expiresAfter, type Timestamp } from '../../time.ts'
import { type Delivery, type DeliveryAttempt, DeliverySchema } from '../delivery/delivery.ts'
import {
  CLAIM_FIELDS,
  keyOfDelivery,
  type NamedDelivery,
  SCHEDULE_FIELDS,
  scheduleFields,
  UNLISTED,
} from '../delivery/delivery-store.ts'

type Claim = { readonly token: string; readonly until: Timestamp }

/**
 * Claims a due attempt, once; undefined for a later worker. The token shows that this worker made a
 * claim whose answer was lost.
 */
export async function claimAttempt(deps: TableDeps, delivery: Delivery, claim: Claim) {
  const changes = { set: { claimToken: claim.token, claimedUntil: claim.until } }
  const outcome = await deps.table.write(
    update(keyOfDelivery(delivery), changes, isUnclaimed(delivery)),
  )
  const isOurs = outcome.applied || outcome.item?.['claimToken'] === claim.token
  return isOurs ? v.parse(DeliverySchema, outcome.item) : undefined
}

/** A round after a skipped round has the same attempt number, at another time. */
function isUnclaimed({ attempts, nextAttemptAt }: Delivery) {
  return all(
    equals('attempts', attempts),
    equals('nextAttemptAt', nextAttemptAt),
    absent('claimToken'),
  )
}

/** False when the delivery's attempt was claimed or made meanwhile. */
export async function skipDelivery(deps: StoreDeps, delivery: Delivery): Promise<boolean> {
  const set = { status: 'skipped', ttl: expiresAfter(deps.now(), RETENTION.deliveryMs) }
  const changes = { set, remove: [...SCHEDULE_FIELDS, UNLISTED] as const }
  return (await deps.table.write(update(keyOfDelivery(delivery), changes, isUnclaimed(delivery))))
    .applied
}

export type StateAfterAttempt =
  | { readonly status: 'succeeded' | 'skipped' }
  | { readonly status: 'scheduled'; readonly nextAttemptAt: Timestamp }
  | { readonly status: 'abandoned'; readonly alertDueAt: Timestamp }

/** False when another worker has recorded the attempt as lost after the claim expired. */
export async function storeAttemptResult(
  deps: TableDeps,
  delivery: Delivery,
  attempt: DeliveryAttempt,
  state: StateAfterAttempt,
): Promise<boolean> {
  assertInvariant(delivery.claimToken !== undefined, 'an attempt is recorded on its claim')
  const { set, remove } = changesAfter(delivery, attempt, state)
  const success = delivery.unlisted && state.status === 'succeeded' ? toItem(attempt) : undefined
  const step = update(
    keyOfDelivery(delivery),
    { set: { ...set, attempts: attempt.number, success }, remove: [...CLAIM_FIELDS, ...remove] },
    hasSameClaim(delivery, attempt),
  )
  if (success === undefined) {
    const steps = {
      delivery: step,
      attempt: put(keyOfAttempt(delivery, attempt), attemptRow(attempt)),
    }
    return (await deps.table.transact(steps)).applied
  }
  // A single write ends the delivery. If the SDK repeats the write, the table refuses it.
  const { applied, item } = await deps.table.write(step)
  return applied || v.parse(v.optional(DeliverySchema), item)?.success?.number === attempt.number
}

function keyOfAttempt({ deliveryId, isTest }: NamedDelivery, { number }: DeliveryAttempt) {
  return isTest ? testAttemptKey(deliveryId, number) : attemptKey(deliveryId, number)
}

export function attemptRow(attempt: DeliveryAttempt) {
  return { ...attempt, ...retentionFrom(attempt) }
}

export function retentionFrom({ at }: DeliveryAttempt) {
  return { ttl: expiresAfter(at, RETENTION.deliveryMs) }
}

function hasSameClaim({ claimToken }: Delivery, { number }: DeliveryAttempt) {
  return all(equals('attempts', number - 1), equals('claimToken', claimToken))
}

function changesAfter(delivery: Delivery, attempt: DeliveryAttempt, state: StateAfterAttempt) {
  const { status } = state
  const retention = retentionFrom(attempt)
  switch (status) {
    case 'scheduled': {
      const lostBefore = attempt.error === 'unknown' || undefined
      const set = { ...scheduleFields(delivery, state.nextAttemptAt), lostBefore }
      const endedLoss = lostBefore ? [] : (['lostBefore'] as const)
      return { set, remove: [UNLISTED, 'resends', ...endedLoss] as const }
    }
    // The list of succeeded deliveries reads all deliveries of their endpoint. Due work may have
    // listed a slow first attempt.
    case 'succeeded':
      return {
        set: { [UNLISTED]: status, ...retention },
        remove: [...SCHEDULE_FIELDS, 'status'] as const,
      }
    case 'skipped':
      return { set: { status, ...retention }, remove: [...SCHEDULE_FIELDS, UNLISTED] as const }
    case 'abandoned': {
      const alert = dueWork('alert', delivery.deliveryId, state.alertDueAt)
      const remove = [UNLISTED, 'nextAttemptAt', 'resends'] as const
      return { set: { status, ...retention, ...alert }, remove }
    }
  }
}
