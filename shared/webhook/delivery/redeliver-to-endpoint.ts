import { invalid } from '../../errors.ts'
import type { Event, EventPosition } from '../../event/event.ts'
import { eventCursorOf, parseEventCursor } from '../../event/event-cursor.ts'
import { keepEvent, listClientEventsSince } from '../../event/event-store.ts'
import { type ClientId, deliveryIdFor, type EndpointId } from '../../ids.ts'
import { readParts } from '../../ledger/window-store.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import type { Timestamp } from '../../time.ts'
import { type Endpoint, subscribes } from '../endpoint/endpoint.ts'
import { laneOf } from '../endpoint/lane.ts'
import { findDeliveries, insertDelivery } from './delivery-store.ts'
import { announced, newDelivery } from './new-delivery.ts'
import { type RedeliverDeps, redeliverFinished, requireEnabledEndpoint } from './redeliver.ts'
import type { FinishedStatus } from './redeliver-dto.ts'
import { sendDeliveryMessage } from './send-delivery-message.ts'

/** Events examined by one call; the answer's cursor continues behind them. */
const EVENTS_PER_CALL = 100

export type EndpointRedelivery = {
  readonly clientId: ClientId
  readonly endpointId: EndpointId
  readonly operator: string
  readonly since: Timestamp
  /** Only deliveries of this status; by default all that the merchant did not get. */
  readonly status: FinishedStatus | undefined
  readonly cursor: string | undefined
}

/**
 * Goes through the client's events fired since a time and sends again what the endpoint did not get: deliveries that
 * were abandoned or skipped, and ones that never were, because the endpoint was registered or subscribed later (that is
 * how a rotation loses nothing). Deliveries in progress, and those with no round left today, are passed over, so repeating a call
 * that failed half-way is safe. Throws 404 and 422 as for one delivery.
 */
export const redeliverToEndpoint = async (
  deps: RedeliverDeps,
  input: EndpointRedelivery,
): Promise<{ readonly count: number; readonly next: string | undefined }> => {
  const { clientId, endpointId, operator, since, status } = input
  const after = input.cursor === undefined ? undefined : decodeCursor(input.cursor, since)
  const endpoint = await requireEnabledEndpoint(deps, clientId, endpointId)
  const parts = await readParts(deps, clientId)
  const page = await listClientEventsSince(deps, { clientId, parts, since, limit: EVENTS_PER_CALL, after })
  const found = await findDeliveries(
    deps,
    page.events.map(({ eventId }) => deliveryIdFor(eventId, endpointId)),
  )
  const deliveries = new Map(found.map((delivery) => [delivery.eventId, delivery]))
  let count = 0
  for (const event of page.events) {
    const delivery = deliveries.get(event.eventId)
    if (delivery) {
      const wanted = status === undefined ? delivery.status !== 'succeeded' : delivery.status === status
      if (wanted && (await redeliverFinished(deps, { delivery, lane: laneOf(endpoint) }, operator))) count += 1
    } else if (status === undefined && subscribes(endpoint, event.type)) {
      if (await deliverMissing(deps, event, endpoint, operator)) count += 1
    }
  }
  return { count, next: page.next && eventCursorOf(page.next) }
}

/** False when another call has made the delivery meanwhile. */
const deliverMissing = async (
  deps: RedeliverDeps,
  event: Event,
  endpoint: Endpoint,
  operator: string,
): Promise<boolean> => {
  const delivery = newDelivery(announced(event), endpoint, deps.now())
  const { deliveryId: subject, clientId } = delivery
  const record = { subject, clientId, operator, action: 'redeliver', after: { status: 'scheduled' } }
  const { applied } = await recordChange(deps, record, {
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
