import type { Deps, TableDeps } from '../../deps.ts'
import { conflict, GatewayError, invalid, notFound, refused } from '../../errors.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { eventCursorOf, readEventCursor } from '../../event/event-cursor.ts'
import { findEvents, listEventPositions } from '../../event/read-events.ts'
import { parseId } from '../../field-errors.ts'
import {
  type ClientId,
  DeliveryIdSchema,
  deliveryIdFor,
  EndpointIdSchema,
  type EndpointIds,
} from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import { reserveUnits } from '../../table/used-units.ts'
import { addMs, END_OF_TIME, later } from '../../time.ts'
import { type Endpoint, subscribes } from '../endpoint/endpoint.ts'
import { findEndpoint, requireEndpointEver } from '../endpoint/endpoint-store.ts'
import { type Delivery, DeliverySchema } from './delivery.ts'
import { attemptsOf, deliveryItem, findDeliveries } from './delivery-store.ts'
import type { ShownDelivery } from './list-deliveries.ts'
import { parseRedeliverBody, type Redelivered, type SinceRequest } from './redeliver-dto.ts'
import {
  beginRound,
  deliverMissingEvent,
  ROUNDS_A_DAY,
  type RoundDeps,
  type WriteRound,
} from './round-store.ts'
import { endpointDisabledError } from './send-test-event.ts'

type RedeliverDeps = RoundDeps & Pick<Deps, 'newId' | 'invocation'>

const UNREADABLE = 'the delivery cannot be read'
const UNREPAIRABLE = 'No action repairs its row. GET /v1/events has its event for its merchant.'

/**
 * An operator starts a new round of one finished delivery: the same row, event id and bytes. Throws
 * 404 for another client's delivery, and 409 for an unreadable one. Throws 422 during a round, for
 * a disabled or deleted endpoint, and after ten rounds on one UTC day.
 */
export async function redeliver(
  deps: RedeliverDeps,
  { clientId, deliveryId, operator }: { clientId: ClientId; deliveryId: string; operator: string },
): Promise<void> {
  const item = await requireItem(deps, clientId, deliveryId)
  const delivery = ifValid(DeliverySchema, item)
  if (!delivery) throw conflict(UNREADABLE, UNREPAIRABLE)
  const endpoint = await requireEnabledEndpoint(deps, delivery)
  await requireRound(deps, delivery, endpoint, withAuditRecord(deps, operator))
}

/** An absent id, a malformed one and another client's throw the same 404. */
async function requireItem(deps: TableDeps, clientId: ClientId, id: string) {
  const item = await deliveryItem(deps, parseId(DeliveryIdSchema, id, 'delivery'))
  if (item?.['clientId'] !== clientId) throw notFound('delivery')
  return item
}

/**
 * Throws 404 for an endpoint that the client never had, and 422 for a disabled or deleted endpoint.
 */
async function requireEnabledEndpoint(deps: TableDeps, ids: EndpointIds) {
  const endpoint = await requireEndpointEver(deps, ids)
  const hint =
    'To send the event to another endpoint of the client, redeliver with the endpoint_id of ' +
    'that endpoint and since.'
  if (endpoint.deletedAt !== undefined) throw refused('the endpoint is deleted', hint)
  if (!endpoint.enabled) throw endpointDisabledError()
  return endpoint
}

async function requireRound(
  deps: RoundDeps,
  delivery: Delivery,
  endpoint: Endpoint,
  write: WriteRound,
) {
  if (delivery.isTest) {
    throw refused(
      'a test event is not sent again',
      'The operators can send another test event with send-test-event.',
    )
  }
  const outcome = await beginRound(deps, delivery, endpoint, write)
  if (outcome === 'in progress') {
    throw refused('the delivery is in progress', 'Wait for its remaining attempts.')
  }
  if (outcome === 'no event') throw invalid('the event is no longer kept')
  if (outcome !== 'no round left') return outcome
  const hint = 'Correct the endpoint, and redeliver after 00:00 UTC.'
  throw refused(`${ROUNDS_A_DAY} rounds of the delivery began today`, hint)
}

/** A missing delivery had no status before. */
function withAuditRecord(deps: RedeliverDeps, operator: string): WriteRound {
  return ({ deliveryId: subject, clientId, status }, steps) => {
    const before = status === 'scheduled' ? undefined : { status }
    const change = { action: 'redeliver', before, after: { status: 'scheduled' } }
    return recordChange(deps, { subject, clientId, operator, ...change }, steps)
  }
}

export async function findOwnDelivery(
  deps: TableDeps,
  clientId: ClientId,
  id: string,
): Promise<ShownDelivery> {
  const delivery = ifValid(DeliverySchema, await requireItem(deps, clientId, id))
  const actionHint = 'GET /v1/events has the event of this delivery, unless it is a test.'
  if (!delivery) throw new GatewayError('internal_error', UNREADABLE, { actionHint })
  return { delivery, attempts: await attemptsOf(deps, delivery) }
}

/** `redeliver` for the delivery's merchant. Of concurrent calls, one begins a round. */
export async function redeliverOwn(
  deps: RoundDeps,
  clientId: ClientId,
  id: string,
): Promise<ShownDelivery> {
  const { delivery, attempts } = await findOwnDelivery(deps, clientId, id)
  const endpoint = await findEndpoint(deps, delivery)
  // A deleted endpoint is not found.
  if (!endpoint?.enabled) throw ownEndpointDisabledError()
  const begunDelivery = await requireRound(deps, delivery, endpoint, (_, steps) =>
    deps.table.transact(steps),
  )
  deps.log.info('delivery.redelivered', { delivery_id: delivery.deliveryId, client_id: clientId })
  return { delivery: begunDelivery, attempts }
}

function ownEndpointDisabledError() {
  return refused('the endpoint is disabled', 'GET /v1/events lists what it missed.')
}

export async function redeliverToEndpoint(
  deps: RedeliverDeps,
  {
    clientId,
    endpointId,
    operator,
    ...request
  }: SinceRequest & EndpointIds & { readonly operator: string },
): Promise<Redelivered> {
  const endpoint = await requireEnabledEndpoint(deps, { clientId, endpointId })
  return redeliverSince(deps, endpoint, request, withAuditRecord(deps, operator))
}

/** The most events that one call examines. The answer's cursor continues after them. */
const EVENTS_PER_CALL = 100

/** A round that begins writes the delivery and its index entries. */
const UNITS_A_ROUND = 8

/**
 * Reads the client's events since a time, of the types that the endpoint lists now, and sends the
 * abandoned, skipped and missing deliveries. One is missing if the endpoint was registered or
 * subscribed later, so a replacement of an endpoint loses no event. Leaves out deliveries in
 * progress, those with ten rounds today, and `unreadableIds`. A call that failed half-way can be
 * repeated.
 */
async function redeliverSince(
  deps: RoundDeps,
  endpoint: Endpoint,
  { since, status, cursor }: SinceRequest,
  write: WriteRound,
) {
  const { clientId, endpointId } = endpoint
  const cursorPosition = readEventCursor(cursor, since)
  // An older delivery may have expired although its event has not, so it would look like a missing
  // delivery.
  const earliest = later(since, addMs(deps.now(), -RETENTION.deliveryMs))
  const positions = await listEventPositions(deps, {
    clientId,
    between: [earliest, END_OF_TIME],
    limit: EVENTS_PER_CALL + 1,
    after: cursorPosition && cursorPosition.firedAt >= earliest ? cursorPosition : undefined,
  })
  const page = positions.slice(0, EVENTS_PER_CALL)
  const events = (await findEvents(deps, clientId, page)).flatMap((event) => event ?? [])
  const idOf = ({ eventId }: Event) => deliveryIdFor(eventId, endpointId)
  const { rows, unreadableIds } = await findDeliveries(
    deps,
    events.map((event) => ({ deliveryId: idOf(event) })),
  )
  const deliveries = new Map(rows.map((delivery) => [delivery.deliveryId, delivery]))
  const wanted = events.filter((event) => {
    const current = deliveries.get(idOf(event))?.status
    const isWanted =
      status === undefined ? current !== 'succeeded' && current !== 'scheduled' : current === status
    return isWanted && subscribes(endpoint, event.type)
  })
  await reserveUnits(wanted.length * UNITS_A_ROUND)
  let count = 0
  let passedOver = 0
  for (const event of wanted) {
    const delivery = deliveries.get(idOf(event))
    const outcome = delivery
      ? await beginRound(deps, delivery, endpoint, write)
      : await deliverMissingEvent(deps, event, endpoint, write)
    if (outcome === 'no round left') passedOver++
    else if (typeof outcome === 'object') count++
  }
  const lastPosition = positions.length > EVENTS_PER_CALL ? page.at(-1) : undefined
  return { count, passedOver, unreadableIds, next: lastPosition && eventCursorOf(lastPosition) }
}

export async function redeliverOwnSince(
  deps: RoundDeps,
  {
    clientId,
    id,
    rawBody,
  }: { readonly clientId: ClientId; readonly id: string; readonly rawBody: Buffer },
): Promise<Redelivered> {
  const request = parseRedeliverBody(rawBody)
  const endpointId = parseId(EndpointIdSchema, id, 'endpoint')
  const endpoint = await findEndpoint(deps, { clientId, endpointId })
  if (!endpoint) throw notFound('endpoint')
  if (!endpoint.enabled) throw ownEndpointDisabledError()
  const result = await redeliverSince(deps, endpoint, request, (_, steps) =>
    deps.table.transact(steps),
  )
  deps.log.info('delivery.redelivered', {
    endpoint_id: endpointId,
    client_id: clientId,
    deliveries: result.count,
  })
  return result
}
