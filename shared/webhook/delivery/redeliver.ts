import type { Deps, TableDeps } from '../../deps.ts'
import { invalid, notFound } from '../../errors.ts'
import type { Event, EventPosition } from '../../event/event.ts'
import { eventCursorOf, parseEventCursor } from '../../event/event-cursor.ts'
import { listClientEventsSince } from '../../event/read-events.ts'
import { type ClientId, type DeliveryId, deliveryIdFor, type EndpointId } from '../../ids.ts'
import { readParts } from '../../ledger/window-store.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import type { Timestamp } from '../../time.ts'
import { type Endpoint, laneOf, subscribes } from '../endpoint/endpoint.ts'
import { findEndpointEver } from '../endpoint/endpoint-store.ts'
import {
  announced,
  findDeliveries,
  findDelivery,
  insertDelivery,
  newDelivery,
  sendDeliveryMessage,
} from './delivery-store.ts'
import type { Redelivered, SinceRequest } from './redeliver-dto.ts'
import { beginRound, keepEvent, type RoundDeps, refusedRound, type WriteRound } from './round-store.ts'
import { endpointDisabled } from './send-test-event.ts'

type RedeliverDeps = RoundDeps & Pick<Deps, 'newId' | 'invocation'>

/**
 * Starts a new round of one finished delivery: the same row, event id and bytes. Throws 404 for another client's
 * delivery. Throws 422 during a round, for a disabled or deleted endpoint, and after ten rounds on one UTC day.
 */
export const redeliver = async (
  deps: RedeliverDeps,
  { clientId, deliveryId, operator }: { clientId: ClientId; deliveryId: DeliveryId; operator: string },
): Promise<void> => {
  const delivery = await findDelivery(deps, deliveryId)
  if (delivery?.clientId !== clientId) throw notFound('delivery')
  const endpoint = await requireEnabledEndpoint(deps, clientId, delivery.endpointId)
  const refused = refusedRound(delivery, deps.now())
  if (refused) throw refused
  if (await beginRound(deps, { delivery, lane: laneOf(endpoint) }, recorded(deps, operator))) return
  throw invalid(
    'the delivery is in progress',
    undefined,
    'Wait for its remaining attempts; list-deliveries shows them.',
  )
}

/** Throws 404 for an endpoint the client never had, and 422 for one that is disabled or deleted. */
const requireEnabledEndpoint = async (deps: TableDeps, clientId: ClientId, endpointId: EndpointId) => {
  const endpoint = await findEndpointEver(deps, clientId, endpointId)
  if (!endpoint) throw notFound('endpoint')
  if (endpoint.deletedAt !== undefined) {
    throw invalid(
      'the endpoint is deleted',
      undefined,
      'Nothing is sent there any more. An enabled endpoint of the client gets it with its own endpoint_id and since.',
    )
  }
  if (!endpoint.enabled) throw endpointDisabled()
  return endpoint
}

const recorded =
  (deps: RedeliverDeps, operator: string): WriteRound =>
  ({ deliveryId: subject, clientId }, steps, status) => {
    const before = status && { status }
    const record = { subject, clientId, operator, action: 'redeliver', before, after: { status: 'scheduled' } }
    return recordChange(deps, record, steps)
  }

type EndpointRedelivery = SinceRequest & {
  readonly clientId: ClientId
  readonly endpointId: EndpointId
  readonly operator: string
}

/** `redeliverSince` for an operator, with audit records. Throws 404 and 422 as for one delivery. */
export const redeliverToEndpoint = async (
  deps: RedeliverDeps,
  { clientId, endpointId, operator, ...asked }: EndpointRedelivery,
): Promise<Redelivered> => {
  const endpoint = await requireEnabledEndpoint(deps, clientId, endpointId)
  return redeliverSince(deps, endpoint, asked, recorded(deps, operator))
}

/** The most events that one call examines. The answer's cursor continues after them. */
const EVENTS_PER_CALL = 100

/**
 * Reads the client's events since a time and sends what the endpoint did not get: abandoned, skipped and missing
 * deliveries. A delivery is missing if the endpoint was registered or subscribed later, so a new endpoint that replaces
 * another one loses no event. Deliveries in progress, and those with ten rounds today, are passed over. A call that
 * failed half-way can be repeated.
 */
export const redeliverSince = async (
  deps: RoundDeps,
  endpoint: Endpoint,
  { since, status, cursor }: SinceRequest,
  write: WriteRound,
): Promise<Redelivered> => {
  const { clientId, endpointId } = endpoint
  const lane = laneOf(endpoint)
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
      else if (await beginRound(deps, { delivery, lane }, write)) count += 1
    } else if (status === undefined && subscribes(endpoint, event.type)) {
      if (await deliverMissing(deps, event, endpoint, write)) count += 1
    }
  }
  return { count, passedOver, next: page.next && eventCursorOf(page.next) }
}

const deliverMissing = async (deps: RoundDeps, event: Event, endpoint: Endpoint, write: WriteRound) => {
  const delivery = newDelivery(announced(event), endpoint, deps.now())
  const { applied } = await write(delivery, { delivery: insertDelivery(delivery), event: await keepEvent(deps, event) })
  if (applied) await sendDeliveryMessage(deps, delivery, laneOf(endpoint), 0)
  return applied
}

const decodeCursor = (text: string, since: Timestamp): EventPosition => {
  const position = parseEventCursor(text)
  if (position !== undefined && position.firedAt >= since) return position
  const reason = 'must be the `next` of an earlier answer to the same since'
  throw invalid(`cursor: ${reason}`, { cursor: [reason] })
}
