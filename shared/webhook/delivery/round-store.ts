import type { Deps, StoreDeps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { deliveryKey, eventKey } from '../../table/keys.ts'
import { above, all, equals, type Step, unchanged, update, updateFields } from '../../table/step.ts'
import type { Steps, TransactOutcome } from '../../table/table.ts'
import { addMs, expiresAfter, type Timestamp } from '../../time.ts'
import { type Endpoint, laneOf } from '../endpoint/endpoint.ts'
import { alertBeforeRound } from './alert-abandoned.ts'
import type { Delivery } from './delivery.ts'
import {
  insertDelivery,
  isStatus,
  newDelivery,
  scheduleFields,
  sendDeliveryMessages,
  UNLISTED,
} from './delivery-store.ts'

export type RoundDeps = Pick<Deps, 'table' | 'queues' | 'alerts' | 'log' | 'now' | 'sleep'>

type RoundStep = 'delivery' | 'event'
/** Writes all steps of a round or none; for an operator with the audit record. */
export type WriteRound = (
  delivery: Delivery,
  steps: Steps<RoundStep>,
) => Promise<TransactOutcome<RoundStep>>

export const ROUNDS_A_DAY = 10

/**
 * A new round of attempts on a finished delivery: the same row, event id and bytes. Answers the
 * delivery as it then is, or why this caller begins no round. Unreported abandonments of its
 * endpoint are reported first. After a crash before the message, due work sends it within minutes.
 */
export async function beginRound(
  deps: RoundDeps,
  read: Delivery,
  endpoint: Endpoint,
  write: WriteRound,
) {
  if (read.status === 'scheduled') return 'in progress'
  // Another request may have begun the last round of the day since the read.
  const delivery = await alertBeforeRound(deps, read)
  if (!delivery) return 'in progress'
  if (roundsToday(delivery, deps.now()).rounds >= ROUNDS_A_DAY) return 'no round left'
  const { subject, eventName: name, firedAt } = delivery
  const event = subject && (await keepEvent(deps, { subject, name, firedAt }))
  const now = deps.now()
  const outcome = await write(delivery, { delivery: startRound(delivery, now), event })
  if (!outcome.applied) return outcome.refusedBy === 'event' ? 'no event' : 'in progress'
  await sendDeliveryMessages(deps, [{ delivery, lane: laneOf(endpoint) }])
  return { ...delivery, status: 'scheduled' as const, nextAttemptAt: now }
}

/** If a faster clock has counted the next day already, that day stays. */
function roundsToday({ roundsOn = '', rounds = 0 }: Delivery, now: Timestamp) {
  const today = now.slice(0, 10)
  return roundsOn < today ? { roundsOn: today, rounds: 0 } : { roundsOn, rounds }
}

/** An event that is sent again is kept as long as a new event. */
async function keepEvent(deps: StoreDeps, event: Pick<Event, 'subject' | 'name' | 'firedAt'>) {
  const { subject, name, firedAt } = event
  const now = deps.now()
  if (now < addMs(firedAt, RETENTION.eventMs - RETENTION.keepMs)) return undefined
  const item = await deps.table.getFields(eventKey(subject, name), ['ttl'])
  if (Number(item?.['ttl']) > expiresAfter(now, RETENTION.keepMs)) return undefined
  const set = { ttl: expiresAfter(now, RETENTION.eventMs) }
  return updateFields(eventKey(subject, name), { set }, above('ttl', expiresAfter(now, 0)))
}

/** Refused when another round began meanwhile: after a skipped round only the count differs. */
export function startRound(delivery: Delivery, now: Timestamp): Step {
  assertInvariant(delivery.status !== 'scheduled', 'a round starts after the last one has ended')
  const { roundsOn, rounds } = roundsToday(delivery, now)
  const set = {
    ...scheduleFields(delivery, now),
    roundStart: delivery.attempts,
    rounds: rounds + 1,
    roundsOn,
  }
  return update(
    deliveryKey(delivery.deliveryId),
    { set, remove: ['lostBefore', 'resends', 'ttl', UNLISTED] },
    all(
      isStatus(delivery.status),
      equals('attempts', delivery.attempts),
      unchanged('rounds', delivery.rounds),
      unchanged('roundsOn', delivery.roundsOn),
    ),
  )
}

/** Sends an event to an endpoint that has no delivery of it, unless another caller does so now. */
export async function deliverMissingEvent(
  deps: RoundDeps,
  event: Event,
  endpoint: Endpoint,
  write: WriteRound,
) {
  const delivery = newDelivery(event, endpoint, deps.now())
  const { applied } = await write(delivery, {
    delivery: insertDelivery(delivery),
    event: await keepEvent(deps, event),
  })
  if (!applied) return 'in progress'
  await sendDeliveryMessages(deps, [{ delivery, lane: laneOf(endpoint) }])
  return delivery
}
