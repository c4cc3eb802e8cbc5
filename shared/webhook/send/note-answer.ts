import type { Deps } from '../../deps.ts'
import { SECOND_MS } from '../../time.ts'
import type { DeliveryAttempt } from '../delivery/delivery.ts'
import { type Endpoint, type Lane, laneOf } from '../endpoint/endpoint.ts'
import { markSlow, unmarkSlow } from '../endpoint/endpoint-store.ts'

/**
 * Half of the time of an attempt. An attempt that took so long held its worker: an endpoint that answers in the ninth
 * second costs the others as much as one that never does.
 */
const HELD_MS = 5 * SECOND_MS

/**
 * Marks when an endpoint begins to hold workers, and when it answers again; otherwise writes nothing. Answers the lane
 * of its next attempt. The mark is a hint: a failed write never fails a delivery, and a stale mark only sends the next
 * attempt through the slow lane.
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
    if (applied && lane === 'slow') deps.log.warn('endpoint.slow', { ...ids, duration_ms: attempt.durationMs })
    if (applied && lane === 'normal')
      deps.log.info('endpoint.answers_again', { ...ids, slow_since: endpoint.slowSince })
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
