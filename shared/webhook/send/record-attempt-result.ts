import type { Deps, StoreDeps } from '../../deps.ts'
import { MAX_DELAY_SECONDS } from '../../queues.ts'
import { addMs, later, MINUTE_MS, msBetween, SECOND_MS } from '../../time.ts'
import { alertDueAt } from '../delivery/alert-abandoned.ts'
import type { Delivery, DeliveryAttempt } from '../delivery/delivery.ts'
import { sendDeliveryMessages } from '../delivery/delivery-store.ts'
import { type Endpoint, type Lane, laneOf } from '../endpoint/endpoint.ts'
import { moveMark } from '../endpoint/endpoint-store.ts'
import { type StateAfterAttempt, storeAttemptResult } from './attempt-store.ts'

export type AttemptResultDeps = Pick<Deps, 'table' | 'queues' | 'log' | 'now'>

const LOG_LINES = {
  succeeded: ['info', 'delivery.succeeded'],
  scheduled: ['warn', 'delivery.failed'],
  abandoned: ['error', 'delivery.abandoned'],
  skipped: ['warn', 'delivery.skipped'],
} as const

/**
 * Records a claimed attempt, and sends the next message to this lane after a failure that is not
 * the last of its round. After the last failure an alert is due (spec 6.4). False when another
 * worker recorded the attempt as lost; then nothing is changed. Throws when the next message cannot
 * be sent: the attempt is recorded, and due work sends the message.
 */
export async function recordAttemptResult(
  deps: AttemptResultDeps,
  delivery: Delivery,
  attempt: DeliveryAttempt,
  lane: Lane,
  endpoint: Pick<Endpoint, 'lastAlertAt'> | undefined,
): Promise<boolean> {
  const state = stateAfterAttempt(deps, delivery, attempt, endpoint)
  if (!(await storeAttemptResult(deps, delivery, attempt, state))) return false
  const [level, code] = LOG_LINES[state.status]
  deps.log[level](code, {
    delivery_id: delivery.deliveryId,
    event_id: delivery.eventId,
    endpoint_id: delivery.endpointId,
    client_id: delivery.clientId,
    attempt: attempt.number,
    duration_ms: attempt.durationMs,
    http_status: attempt.httpStatus,
    error: attempt.error,
    ...(state.status === 'succeeded' && { announced_ms: announcedMs(deps, delivery) }),
    ...(state.status === 'scheduled' && { next_attempt_at: state.nextAttemptAt }),
  })
  if (state.status === 'scheduled') {
    const nextDelivery = { delivery: { ...delivery, attempts: attempt.number }, lane }
    await sendDeliveryMessages(
      deps,
      [nextDelivery],
      hopSeconds(msBetween(deps.now(), state.nextAttemptAt)),
    )
  }
  return true
}

/** The waits after the failures of a round (spec 6.4), all below its limit of six hours. */
export const WAITS_MS = [1, 2, 4, 8, 16, 32, 64].map((minutes) => minutes * MINUTE_MS)

function stateAfterAttempt(
  deps: StoreDeps,
  { roundStart, lostBefore }: Delivery,
  { number, at, error }: DeliveryAttempt,
  endpoint: Pick<Endpoint, 'lastAlertAt'> | undefined,
): StateAfterAttempt {
  if (error === undefined) return { status: 'succeeded' }
  // No later attempt would find the bytes.
  if (error === 'event_gone') return { status: 'skipped' }
  const now = deps.now()
  const waitMs = WAITS_MS[number - roundStart - 1]
  if (waitMs === undefined) return { status: 'abandoned', alertDueAt: alertDueAt(endpoint, now) }
  if (error !== 'unknown') return { status: 'scheduled', nextAttemptAt: addMs(now, waitMs) }
  // An attempt that was lost with its worker is repeated at once, a second lost attempt in a row
  // after the wait from its time.
  return { status: 'scheduled', nextAttemptAt: lostBefore ? later(addMs(at, waitMs), now) : now }
}

/** How long a merchant waited for the announcement of a payment, not of a redelivered event. */
function announcedMs(deps: Pick<Deps, 'now'>, { eventName, rounds, createdAt, firedAt }: Delivery) {
  return eventName === 'payment.succeeded' && rounds === undefined && createdAt === firedAt
    ? msBetween(firedAt, deps.now())
    : undefined
}

/** Rounded up, in hops when SQS cannot hold the message that long. */
export function hopSeconds(waitMs: number): number {
  return Math.min(Math.max(Math.ceil(waitMs / SECOND_MS), 1), MAX_DELAY_SECONDS)
}

/**
 * Half of an attempt's time limit. A slower attempt holds its worker as if the endpoint never
 * answered.
 */
const HELD_MS = 5 * SECOND_MS

/**
 * Marks when an endpoint begins to hold workers, and when it answers again. Answers the lane of its
 * next attempt. The mark is a hint: a failed write never fails a delivery, and a stale mark costs
 * one slow lane.
 */
export async function noteAnswer(
  deps: Pick<Deps, 'table' | 'log' | 'now'>,
  endpoint: Endpoint,
  attempt: DeliveryAttempt,
): Promise<Lane> {
  // An attempt without an answer that fails at once says nothing about the endpoint's speed.
  const laneIfFast = attempt.httpStatus === undefined ? laneOf(endpoint) : 'normal'
  const lane = attempt.durationMs >= HELD_MS ? 'slow' : laneIfFast
  if (lane === laneOf(endpoint)) return lane
  const ids = { endpoint_id: endpoint.endpointId, client_id: endpoint.clientId }
  try {
    const since = lane === 'slow' ? deps.now() : undefined
    const { applied } = await deps.table.write(moveMark(endpoint, 'slowSince', since))
    // Several attempts may end at the same time; one of them writes the mark.
    if (!applied) return lane
    if (lane === 'slow') deps.log.warn('endpoint.slow', { ...ids, duration_ms: attempt.durationMs })
    else deps.log.info('endpoint.answers_again', { ...ids, slow_since: endpoint.slowSince })
  } catch (error) {
    deps.log.error('endpoint.not_marked', { ...ids, lane }, error)
  }
  return lane
}
