import { invalid } from '../../errors.ts'
import type { Event, EventPosition } from '../../event/event.ts'
import { eventCursorOf, parseEventCursor } from '../../event/event-cursor.ts'
import { listClientEventsSince } from '../../event/read-events.ts'
import { deliveryIdFor } from '../../ids.ts'
import { readParts } from '../../ledger/window-store.ts'
import type { TransactOutcome } from '../../table/table.ts'
import type { Timestamp } from '../../time.ts'
import { type Endpoint, laneOf, subscribes } from '../endpoint/endpoint.ts'
import { beginRound, type RoundDeps, type RoundSteps, refusedRound } from './begin-round.ts'
import type { Delivery } from './delivery.ts'
import { announced, findDeliveries, insertDelivery, newDelivery } from './delivery-store.ts'
import type { Redelivered, SinceRequest } from './redeliver-dto.ts'
import { keepEvent } from './round-store.ts'
import { sendDeliveryMessage } from './send-delivery-message.ts'

/** The most events that one call examines. The answer's cursor continues after them. */
const EVENTS_PER_CALL = 100

/** Writes one round, or one missing delivery: all of its steps or none. */
export type WriteRound = (
  delivery: Delivery,
  steps: RoundSteps,
  before?: Delivery['status'],
) => Promise<TransactOutcome<keyof RoundSteps>>

/**
 * Goes through the client's events since a time and sends what the endpoint did not get: abandoned and skipped
 * deliveries, and missing ones, because the endpoint was registered or subscribed later. So a rotation loses nothing.
 * Deliveries in progress, and those without a round left today, are passed over. A call that failed half-way can be
 * repeated.
 */
export const redeliverSince = async (
  deps: RoundDeps,
  endpoint: Endpoint,
  { since, status, cursor }: SinceRequest,
  write: WriteRound,
): Promise<Redelivered> => {
  const { clientId, endpointId } = endpoint
  const after = cursor === undefined ? undefined : decodeCursor(cursor, since)
  const parts = await readParts(deps, clientId)
  const page = await listClientEventsSince(deps, { clientId, parts, since, limit: EVENTS_PER_CALL, after })
  const found = await findDeliveries(
    deps,
    page.events.map(({ eventId }) => deliveryIdFor(eventId, endpointId)),
  )
  const deliveries = new Map(found.map((delivery) => [delivery.eventId, delivery]))
  let count = 0
  let passedOver = 0
  for (const event of page.events) {
    const delivery = deliveries.get(event.eventId)
    if (delivery) {
      const wanted = status === undefined ? delivery.status !== 'succeeded' : delivery.status === status
      if (!wanted) continue
      if (refusedRound(delivery, deps.now())) passedOver += 1
      else if (await sendAgain(deps, endpoint, delivery, write)) count += 1
    } else if (status === undefined && subscribes(endpoint, event.type)) {
      if (await deliverMissing(deps, event, endpoint, write)) count += 1
    }
  }
  return { count, passedOver, next: page.next && eventCursorOf(page.next) }
}

/** False when the delivery is in progress, or another call has begun its round. */
export const sendAgain = async (deps: RoundDeps, endpoint: Endpoint, delivery: Delivery, write: WriteRound) => {
  const begun = await beginRound(deps, { delivery, lane: laneOf(endpoint) }, (steps) =>
    write(delivery, steps, delivery.status),
  )
  return begun !== undefined
}

/** False when another call has created the delivery. */
const deliverMissing = async (
  deps: RoundDeps,
  event: Event,
  endpoint: Endpoint,
  write: WriteRound,
): Promise<boolean> => {
  const delivery = newDelivery(announced(event), endpoint, deps.now())
  const { applied } = await write(delivery, {
    delivery: insertDelivery(delivery),
    event: await keepEvent(deps, event),
  })
  if (applied) await sendDeliveryMessage(deps, delivery, laneOf(endpoint), 0)
  return applied
}

const decodeCursor = (text: string, since: Timestamp): EventPosition => {
  const position = parseEventCursor(text)
  if (position !== undefined && position.firedAt >= since) return position
  const reason = 'must be the `next` of an earlier answer to the same since'
  throw invalid(`cursor: ${reason}`, { cursor: [reason] })
}
