import type { Deps, StoreDeps } from '../../deps.ts'
import { addMs, later, msBetween, type Timestamp } from '../../time.ts'
import { alertTimes, findAlertGroup } from '../delivery/abandonment-store.ts'
import { type AfterAttempt, storeAttemptResult } from '../delivery/attempt-store.ts'
import type { Delivery, DeliveryAttempt } from '../delivery/delivery.ts'
import { hopSeconds, waitAfterFailureMs } from '../delivery/retry-schedule.ts'
import { sendDeliveryMessage } from '../delivery/send-delivery-message.ts'
import { tellAbandonments } from '../delivery/tell-abandonments.ts'
import type { Lane } from '../endpoint/lane.ts'

export type AttemptResultDeps = Pick<Deps, 'table' | 'queues' | 'alerts' | 'log' | 'now' | 'newId'>

/**
 * Writes down a claimed attempt and does what follows: nothing after a success, the next message after a failure, the
 * operators' alert after the last failure of a round (spec 6.4), at once unless its endpoint was told of within the last
 * half hour: then due work gathers it with others. False when the claim had run out and the attempt was
 * recorded as lost by another worker; then nothing is changed. An attempt that was lost with its worker failed when it
 * was made, not when that is found out: its wait has been running since. The next message goes to
 * the given lane.
 *
 * Throws when the next message cannot be sent. The attempt is recorded all the same, so the queue's next try of this
 * message finds it old and drops it, and due work sends the next attempt's message two minutes after it was due.
 */
export const recordAttemptResult = async (
  deps: AttemptResultDeps,
  claimed: Delivery,
  attempt: DeliveryAttempt,
  lane: Lane,
  endedAt: Timestamp = deps.now(),
): Promise<boolean> => {
  const after = await afterAttempt(deps, claimed, attempt, endedAt)
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
      if (after.isQuiet) await alertOperators(deps, recorded)
      break
  }
  return true
}

/** From paid to announced: what a merchant waits for. Not told of rounds that an operator began anew. */
const announcedMs = (deps: Pick<Deps, 'now'>, { eventType, roundStart, firedAt }: Delivery): number | undefined =>
  eventType === 'payment.succeeded' && roundStart === 0 ? msBetween(firedAt, deps.now()) : undefined

type Abandoned = Extract<AfterAttempt, { readonly status: 'abandoned' }> & { readonly isQuiet: boolean }
type Next = Exclude<AfterAttempt, { readonly status: 'abandoned' }> | Abandoned

const afterAttempt = async (
  deps: StoreDeps,
  { roundStart, endpointId }: Delivery,
  attempt: DeliveryAttempt,
  endedAt: Timestamp,
): Promise<Next> => {
  if (attempt.error === undefined) return { status: 'succeeded' }
  const waitMs = waitAfterFailureMs(attempt.number - roundStart)
  if (waitMs === undefined) {
    const { isQuiet, dueAt } = alertTimes(await findAlertGroup(deps, endpointId), deps.now())
    return { status: 'abandoned', since: deps.now(), alertDueAt: dueAt, isQuiet }
  }
  return { status: 'scheduled', nextAttemptAt: later(addMs(endedAt, waitMs), deps.now()) }
}

/** The table says the alert is owed, so a topic that does not answer now is due work's to try again. */
const alertOperators = async (deps: AttemptResultDeps, abandoned: Delivery): Promise<void> => {
  try {
    await tellAbandonments(deps, abandoned)
  } catch (error) {
    deps.log.error('alert.failed', { delivery_id: abandoned.deliveryId }, error)
  }
}
