import type { Deps } from '../../deps.ts'
import { SECOND_MS } from '../../time.ts'
import type { DeliveryAttempt } from '../delivery/delivery.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { markSlow, unmarkSlow } from '../endpoint/endpoint-store.ts'
import { type Lane, laneOf } from '../endpoint/lane.ts'

/**
 * Half of what an attempt may take. One that took so long held its worker, whatever came of it: an endpoint that answers
 * in the ninth second costs the others as much as one that never does.
 */
const HELD_MS = 5 * SECOND_MS

/**
 * Notes when an endpoint begins to hold workers, and when it answers again; else writes nothing. Answers the lane that
 * its next attempt goes to. The mark is a hint, which the next such attempt gives again: no delivery fails because it
 * could not be written, and one that nobody takes off only sends the next attempt through the slow lane.
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
    // Others of its attempts end at the same time; one of them says it.
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
  // What fails at once without an answer holds nobody, and says nothing of how soon the endpoint would answer.
  return httpStatus === undefined ? laneOf(endpoint) : 'normal'
}
