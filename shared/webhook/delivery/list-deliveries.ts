import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import { findClient } from '../../client/client-store.ts'
import type { Deps } from '../../deps.ts'
import { invalid, notFound } from '../../errors.ts'
import { type ClientId, DeliveryIdSchema, deliveryIdFor, type EndpointId, type EventId } from '../../ids.ts'
import { firstOfPage, type Page } from '../../page.ts'
import type { Item } from '../../table/attributes.ts'
import { findEndpoint, listAllEndpoints } from '../endpoint/endpoint-store.ts'
import type { Delivery, DeliveryStatus } from './delivery.ts'
import { type DeliveryDto, toDeliveryDto } from './delivery-dto.ts'
import { DELIVERY_ENTITY, findDeliveries, listAttempts } from './delivery-store.ts'

type DeliveryFilter = {
  readonly status?: DeliveryStatus | undefined
  readonly endpointId?: EndpointId | undefined
  readonly eventId?: EventId | undefined
}

/** A page is found by merging the endpoints' lists from their start, so it has a deepest one. */
const MAX_DEPTH = 2_000
/** Lists read side by side. */
const CONCURRENCY = 10

/**
 * A client's deliveries, newest first, deleted endpoints' too: all of them, or those of a status, an endpoint or an
 * event. The index suggests; a row whose status has moved on since is left out, so a page may be shorter than asked.
 */
export const listDeliveries = async (
  deps: Pick<Deps, 'table'>,
  { clientId, filter, page }: { clientId: ClientId; filter: DeliveryFilter; page: Page },
): Promise<readonly DeliveryDto[]> => {
  if (filter.eventId !== undefined) {
    await assertClient(deps, clientId)
    const deliveries = await deliveriesOfEvent(deps, clientId, filter.eventId)
    return deliveries.slice(firstOfPage(page), firstOfPage(page) + page.perPage)
  }
  const depth = firstOfPage(page) + page.perPage
  if (depth > MAX_DEPTH) {
    throw invalid(
      `page: only the newest ${MAX_DEPTH} deliveries can be listed`,
      { page: ['too far back'] },
      depthHint(page),
    )
  }
  const owners = await endpointIds(deps, clientId, filter.endpointId)
  const lists = await mapInChunks(owners, CONCURRENCY, (owner) => newestKeys(deps, owner, filter.status, depth))
  const ids = lists
    .flat()
    .toSorted(newestFirst)
    .slice(firstOfPage(page), depth)
    .map(({ id }) => v.parse(DeliveryIdSchema, id))
  const deliveries = await findDeliveries(deps, ids)
  return withAttempts(
    deps,
    deliveries.filter(({ status }) => filter.status === undefined || status === filter.status),
  )
}

const depthHint = ({ perPage }: Page) =>
  `The last page is ${Math.floor(MAX_DEPTH / perPage)}. Older ones: by event_id, or with get-payment, which shows those of a payment.`

/** What became of an event: its deliveries with their attempts, to every endpoint of the client, newest first. */
export const deliveriesOfEvent = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  eventId: EventId,
): Promise<readonly DeliveryDto[]> => {
  const endpoints = await listAllEndpoints(deps, clientId)
  const ids = endpoints.map(({ endpointId }) => deliveryIdFor(eventId, endpointId))
  const deliveries = await findDeliveries(deps, ids)
  return withAttempts(
    deps,
    deliveries.toSorted((a, b) =>
      newestFirst({ at: a.createdAt, id: a.deliveryId }, { at: b.createdAt, id: b.deliveryId }),
    ),
  )
}

const assertClient = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<void> => {
  if (!(await findClient(deps, clientId))) throw notFound('client')
}

const endpointIds = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  only: EndpointId | undefined,
): Promise<readonly EndpointId[]> => {
  if (only !== undefined) {
    if (!(await findEndpoint(deps, clientId, only))) throw notFound('endpoint')
    return [only]
  }
  await assertClient(deps, clientId)
  return (await listAllEndpoints(deps, clientId)).map(({ endpointId }) => endpointId)
}

type ListKey = { readonly at: string; readonly id: string }

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const newestFirst = (a: ListKey, b: ListKey) => compare(b.at, a.at) || compare(b.id, a.id)

const newestKeys = async (
  deps: Pick<Deps, 'table'>,
  owner: EndpointId,
  status: DeliveryStatus | undefined,
  count: number,
): Promise<readonly ListKey[]> => {
  const list =
    status === undefined
      ? ({ index: 'by-owner', partition: [owner, DELIVERY_ENTITY] } as const)
      : ({ index: 'by-status', partition: [owner, DELIVERY_ENTITY, status] } as const)
  const keys: ListKey[] = []
  let cursor: Item | undefined
  do {
    const found = await deps.table.query({
      ...list,
      newestFirst: true,
      limit: count - keys.length,
      ...(cursor && { cursor }),
    })
    keys.push(...found.items.map(({ listedAt, id }) => ({ at: String(listedAt), id: String(id) })))
    cursor = found.cursor
  } while (cursor && keys.length < count)
  return keys
}

const withAttempts = (deps: Pick<Deps, 'table'>, deliveries: readonly Delivery[]): Promise<readonly DeliveryDto[]> =>
  mapInChunks(deliveries, CONCURRENCY, async (delivery) =>
    toDeliveryDto(delivery, await listAttempts(deps, delivery.deliveryId)),
  )
