import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { RETENTION } from '../../event/event.ts'
import { toItem } from '../../table/attributes.ts'
import { attemptKey, deliveryKey } from '../../table/keys.ts'
import { absent, all, type Condition, dueWork, equals, put, update } from '../../table/step.ts'
import { expiresAfter, type Timestamp } from '../../time.ts'
import { type Delivery, type DeliveryAttempt, DeliverySchema } from '../delivery/delivery.ts'
import { CLAIM_FIELDS, SCHEDULE_FIELDS, schedule, UNLISTED } from '../delivery/delivery-store.ts'

export type Claim = { readonly token: string; readonly until: Timestamp }

/** Claims a due attempt, once; undefined for a later worker. The token shows a claim of ours whose answer was lost. */
export async function claimAttempt(deps: TableDeps, delivery: Delivery, claim: Claim) {
  const changes = { set: { claimToken: claim.token, claimedUntil: claim.until } }
  const outcome = await deps.table.write(
    update(deliveryKey(delivery.deliveryId), changes, unclaimed(delivery)),
  )
  const ours = outcome.applied || outcome.item?.['claimToken'] === claim.token
  return ours ? v.parse(DeliverySchema, outcome.item) : undefined
}

/** No worker has made or claimed the attempt that was read. After a skipped round only its time differs. */
function unclaimed({ attempts, nextAttemptAt }: Delivery): Condition {
  return all(
    equals('attempts', attempts),
    equals('nextAttemptAt', nextAttemptAt),
    absent('claimToken'),
  )
}

/** Ends a delivery whose endpoint is disabled or deleted. False when its attempt was claimed or made meanwhile. */
export async function skipDelivery(deps: StoreDeps, delivery: Delivery): Promise<boolean> {
  const set = { status: 'skipped', ttl: expiresAfter(deps.now(), RETENTION.deliveryMs) }
  const changes = { set, remove: [...SCHEDULE_FIELDS, UNLISTED] }
  return (
    await deps.table.write(update(deliveryKey(delivery.deliveryId), changes, unclaimed(delivery)))
  ).applied
}

export type AfterAttempt =
  | { readonly status: 'succeeded' | 'skipped' }
  | { readonly status: 'scheduled'; readonly nextAttemptAt: Timestamp }
  | { readonly status: 'abandoned'; readonly alertDueAt: Timestamp }

/** Writes an attempt's result in one transaction. False when its claim has expired and it counts as lost. */
export async function storeAttemptResult(
  deps: TableDeps,
  claimed: Delivery,
  attempt: DeliveryAttempt,
  after: AfterAttempt,
): Promise<boolean> {
  assertInvariant(claimed.claimToken !== undefined, 'an attempt is recorded on its claim')
  if (claimed.unlisted && after.status === 'succeeded')
    return storeFirstSuccess(deps, claimed, attempt)
  const { set, remove } = changesAfter(claimed, attempt, after)
  const { applied } = await deps.table.transact({
    delivery: update(
      deliveryKey(claimed.deliveryId),
      { set: { ...set, attempts: attempt.number }, remove: [...CLAIM_FIELDS, UNLISTED, ...remove] },
      onItsClaim(claimed, attempt),
    ),
    attempt: put(attemptKey(claimed.deliveryId, attempt.number), {
      ...attempt,
      ...keptSince(attempt),
    }),
  })
  return applied
}

/** Ends a delivery by its first attempt, in one write. The SDK's retry of a lost answer is refused. */
async function storeFirstSuccess(
  deps: TableDeps,
  claimed: Delivery,
  attempt: DeliveryAttempt,
): Promise<boolean> {
  const { number } = attempt
  const set = {
    [UNLISTED]: 'succeeded',
    attempts: number,
    success: toItem(attempt),
    ...keptSince(attempt),
  }
  // Due work lists deliveries that take long.
  const changes = { set, remove: [...CLAIM_FIELDS, ...SCHEDULE_FIELDS, 'status'] }
  const step = update(deliveryKey(claimed.deliveryId), changes, onItsClaim(claimed, attempt))
  const { applied, item } = await deps.table.write(step)
  return applied || v.parse(v.optional(DeliverySchema), item)?.success?.number === number
}

/** The last attempt sets until when the delivery is kept. */
function keptSince({ at }: DeliveryAttempt) {
  return { ttl: expiresAfter(at, RETENTION.deliveryMs) }
}

function onItsClaim({ claimToken }: Delivery, { number }: DeliveryAttempt): Condition {
  return all(equals('attempts', number - 1), equals('claimToken', claimToken))
}

function changesAfter(delivery: Delivery, attempt: DeliveryAttempt, after: AfterAttempt) {
  if (after.status === 'scheduled') {
    const lostBefore = attempt.error === 'unknown' || undefined
    const set = { ...schedule(delivery, after.nextAttemptAt), lostBefore }
    return { set, remove: ['resends', ...(lostBefore ? [] : ['lostBefore'])] }
  }
  const ended = { status: after.status, ...keptSince(attempt) }
  if (after.status !== 'abandoned') return { set: ended, remove: SCHEDULE_FIELDS }
  const alert = dueWork('alert', delivery.deliveryId, after.alertDueAt)
  return { set: { ...ended, ...alert }, remove: ['nextAttemptAt', 'resends'] }
}
