import type { Deps, StoreDeps } from '../../deps.ts'
import { MAX_DELAY_SECONDS } from '../../queues.ts'
import { addMs, HOUR_MS, later, MINUTE_MS, msBetween, SECOND_MS, type Timestamp } from '../../time.ts'
import type { Delivery, DeliveryAttempt } from '../delivery/delivery.ts'
import { sendDeliveryMessage } from '../delivery/delivery-store.ts'
import { alertDueAt } from '../delivery/tell-abandoned.ts'
import { type Endpoint, type Lane, laneOf } from '../endpoint/endpoint.ts'
import { markSlow, unmarkSlow } from '../endpoint/endpoint-store.ts'
import { type AfterAttempt, storeAttemptResult } from './attempt-store.ts'

export type AttemptResultDeps = Pick<Deps, 'table' | 'queues' | 'log' | 'now'>

/** The lane of the next message, and when operators may be told about the endpoint. */
type Follow = { readonly lane: Lane; readonly endpoint: Pick<Endpoint, 'lastAlertAt'> | undefined }

/**
 * Records a claimed attempt and does what follows: nothing after a success or a lost event, the next message after
 * another failure. After the last failure of a round an alert is due (spec 6.4). False when the claim had expired and
 * another worker recorded the attempt as lost; then nothing is changed. An attempt that was lost with its worker is
 * repeated at once; after a second loss in a row the usual wait counts from the attempt. Throws when the next message
 * cannot be sent. The attempt is recorded anyway, so the queue's retry of this message finds it old and drops it. Due
 * work sends the next message a minute after it was due.
 */
export const recordAttemptResult = async (
  deps: AttemptResultDeps,
  claimed: Delivery,
  attempt: DeliveryAttempt,
  { lane, endpoint }: Follow,
): Promise<boolean> => {
  const after = afterAttempt(deps, claimed, attempt, endpoint)
  if (!(await storeAttemptResult(deps, claimed, attempt, after))) return false
  const recorded = { ...claimed, attempts: attempt.number }
  const fields = {
    delivery_id: claimed.deliveryId,
    event_id: claimed.eventId,
    endpoint_id: claimed.endpointId,
    client_id: claimed.clientId,
    attempt: attempt.number,
    duration_ms: attempt.durationMs,
    http_status: attempt.httpStatus,
    error: attempt.error,
  }
  switch (after.status) {
    case 'succeeded':
      deps.log.info('delivery.succeeded', { ...fields, announced_ms: announcedMs(deps, claimed) })
      break
    case 'scheduled':
      deps.log.warn('delivery.failed', { ...fields, next_attempt_at: after.nextAttemptAt })
      await sendDeliveryMessage(deps, recorded, lane, hopSeconds(msBetween(deps.now(), after.nextAttemptAt)))
      break
    case 'abandoned':
      deps.log.error('delivery.abandoned', fields)
      break
    case 'skipped':
      deps.log.warn('delivery.skipped', fields)
      break
  }
  return true
}

/** The time from paid to announced, which a merchant waits for. Not measured for what a redelivery began or created. */
const announcedMs = (deps: Pick<Deps, 'now'>, { eventName, rounds, createdAt, firedAt }: Delivery) =>
  eventName === 'payment.succeeded' && rounds === undefined && createdAt === firedAt
    ? msBetween(firedAt, deps.now())
    : undefined

const nextAttemptAt = (
  deps: StoreDeps,
  { lostBefore }: Delivery,
  { at, error }: DeliveryAttempt,
  waitMs: number,
): Timestamp => {
  if (error !== 'unknown') return addMs(deps.now(), waitMs)
  return lostBefore === true ? later(addMs(at, waitMs), deps.now()) : deps.now()
}

const afterAttempt = (
  deps: StoreDeps,
  claimed: Delivery,
  attempt: DeliveryAttempt,
  endpoint: Follow['endpoint'],
): AfterAttempt => {
  if (attempt.error === undefined) return { status: 'succeeded' }
  // No later attempt would find the bytes.
  if (attempt.error === 'event_gone') return { status: 'skipped' }
  const waitMs = waitAfterFailureMs(attempt.number - claimed.roundStart)
  if (waitMs === undefined) return { status: 'abandoned', alertDueAt: alertDueAt(endpoint, deps.now()) }
  return { status: 'scheduled', nextAttemptAt: nextAttemptAt(deps, claimed, attempt, waitMs) }
}

/** Half of an attempt's time. After that long it held its worker, as much as an endpoint that never answers. */
const HELD_MS = 5 * SECOND_MS

/**
 * Marks when an endpoint begins to hold workers, and when it answers again. Answers the lane of its next attempt. The
 * mark is a hint: a failed write never fails a delivery, and a stale mark costs one slow lane.
 */
export const noteAnswer = async (
  deps: Pick<Deps, 'table' | 'log' | 'now'>,
  endpoint: Endpoint,
  attempt: DeliveryAttempt,
): Promise<Lane> => {
  const lane = laneAfter(endpoint, attempt)
  if (lane === laneOf(endpoint)) return lane
  const ids = { endpoint_id: endpoint.endpointId, client_id: endpoint.clientId }
  try {
    const { applied } = await deps.table.write(lane === 'slow' ? markSlow(endpoint, deps.now()) : unmarkSlow(endpoint))
    // Several attempts may end at the same time; one of them writes the mark.
    if (!applied) return lane
    if (lane === 'slow') deps.log.warn('endpoint.slow', { ...ids, duration_ms: attempt.durationMs })
    else deps.log.info('endpoint.answers_again', { ...ids, slow_since: endpoint.slowSince })
  } catch (error) {
    deps.log.error('endpoint.not_marked', { ...ids, lane }, error)
  }
  return lane
}

const laneAfter = (endpoint: Endpoint, { durationMs, httpStatus }: DeliveryAttempt): Lane => {
  if (durationMs >= HELD_MS) return 'slow'
  // An attempt that fails at once without an answer holds no worker, and says nothing about the endpoint's speed.
  return httpStatus === undefined ? laneOf(endpoint) : 'normal'
}

/** Waits after the first, second, ... failure of a round (spec 6.4). */
const WAITS_MS = [
  60 * SECOND_MS,
  2 * MINUTE_MS,
  4 * MINUTE_MS,
  8 * MINUTE_MS,
  16 * MINUTE_MS,
  32 * MINUTE_MS,
  64 * MINUTE_MS,
] as const

/** Spec 6.4: no wait is longer, even if the table above changes. */
const LONGEST_WAIT_MS = 6 * HOUR_MS

export const ATTEMPTS_PER_ROUND = WAITS_MS.length + 1

/** The wait after the given number of failures in a round; undefined when the round is over. */
export const waitAfterFailureMs = (failures: number): number | undefined => {
  const waitMs = WAITS_MS[failures - 1]
  return waitMs === undefined ? undefined : Math.min(waitMs, LONGEST_WAIT_MS)
}

/** The delay of a message for work that is due in `waitMs`: rounded up, in hops when SQS cannot hold it that long. */
export const hopSeconds = (waitMs: number): number =>
  Math.min(Math.max(Math.ceil(waitMs / SECOND_MS), 1), MAX_DELAY_SECONDS)
