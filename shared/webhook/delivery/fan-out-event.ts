import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import type { Event } from '../../event/event.ts'
import { completeEvent } from '../../event/event-store.ts'
import { type Endpoint, subscribes } from '../endpoint/endpoint.ts'
import { listAllEndpoints } from '../endpoint/endpoint-store.ts'
import { laneOf } from '../endpoint/lane.ts'
import { DeliverySchema } from './delivery.ts'
import { insertDelivery } from './delivery-store.ts'
import { announcementOf, newDelivery } from './new-delivery.ts'
import { type InLane, sendDeliveryMessages } from './send-delivery-message.ts'

type FanOutDeps = Pick<Deps, 'table' | 'queues' | 'log' | 'now'>

/**
 * Makes one delivery per endpoint that wants the event (spec 6), and sends its message. May run any number of times,
 * at once or again after a crash at any point: deliveries have derived ids and are put only if absent, and the event
 * stays due until all of them exist. What matches is judged now: an endpoint registered later is a redelivery's matter.
 */
export const fanOutEvent = async (deps: FanOutDeps, event: Event): Promise<void> => {
  const endpoints = await listAllEndpoints(deps, event.clientId)
  const matching = endpoints.filter((endpoint) => subscribes(endpoint, event.type))
  // All are tried, so that one endpoint's trouble costs the others nothing.
  const results = await Promise.allSettled(matching.map((endpoint) => announce(deps, event, endpoint)))
  const fresh = results.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : []))
  const told = await Promise.allSettled(fresh.length > 0 ? [sendDeliveryMessages(deps, fresh)] : [])
  const reasons = [...results, ...told].flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  )
  const ids = { event_id: event.eventId, payment_id: event.paymentId, client_id: event.clientId }
  if (reasons.length > 0) {
    deps.log.error('event.fan_out_failed', { ...ids, failed: reasons.length, endpoints: matching.length })
    throw new AggregateError(reasons, 'an event could not be announced to every endpoint')
  }
  await completeEvent(deps, event)
  // A merchant without an endpoint is seen here, and in the payment's timeline.
  deps.log.info('event.fanned_out', { ...ids, event_type: event.type, deliveries: matching.length })
}

/** Answers the delivery, and in which lane, if a worker should be told of it. */
const announce = async (deps: FanOutDeps, event: Event, endpoint: Endpoint): Promise<InLane | undefined> => {
  const fresh = newDelivery(announcementOf(event), endpoint, deps.now())
  const outcome = await deps.table.write(insertDelivery(fresh))
  const delivery = outcome.applied ? fresh : v.parse(DeliverySchema, outcome.item)
  // An earlier run may have died before its message. Once the first attempt is made, workers carry the delivery on.
  const isNext = delivery.status === 'scheduled' && delivery.attempts === 0
  return isNext ? { delivery, lane: laneOf(endpoint) } : undefined
}
