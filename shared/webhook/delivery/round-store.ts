import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import type { NamedEvent } from '../../event/event-store.ts'
import { deliveryKey, eventKey } from '../../table/keys.ts'
import { above, all, equals, exists, type Step, unchanged, update } from '../../table/step.ts'
import { addMs, expiresAfter, type Timestamp } from '../../time.ts'
import type { Delivery } from './delivery.ts'
import { isStatus, schedule, UNLISTED_FIELD } from './delivery-store.ts'

const TtlOnly = v.object({ ttl: v.number() })

/**
 * Keeps an event that is sent again for as long as a new one. Undefined when it is kept long enough already. The step
 * is refused when the event has expired.
 */
export const keepEvent = async (
  deps: StoreDeps,
  { paymentId, name, firedAt }: NamedEvent & Pick<Event, 'firedAt'>,
): Promise<Step | undefined> => {
  const now = deps.now()
  if (now < addMs(firedAt, RETENTION.eventMs - RETENTION.keepMs)) return undefined
  const item = await deps.table.getFields(eventKey(paymentId, name), ['ttl'])
  if (item && v.parse(TtlOnly, item).ttl > expiresAfter(now, RETENTION.keepMs)) return undefined
  return update(
    eventKey(paymentId, name),
    { set: { ttl: expiresAfter(now, RETENTION.eventMs) } },
    all(exists, above('ttl', expiresAfter(now, 0))),
  )
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
