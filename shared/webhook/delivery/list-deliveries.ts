import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import { findClient } from '../../client/client-store.ts'
import type { Deps } from '../../deps.ts'
import { invalid, notFound } from '../../errors.ts'
import { type ClientId, DeliveryIdSchema, deliveryIdFor, type EndpointId, type EventId } from '../../ids.ts'
import { firstOfPage, type Page } from '../../page.ts'
import type { Item } from '../../table/attributes.ts'
import { addMs, END_OF_TIME, MINUTE_MS, type Timestamp } from '../../time.ts'
import { findEndpoint, listAllEndpoints } from '../endpoint/endpoint-store.ts'
import type { Delivery, DeliveryStatus } from './delivery.ts'
import { type DeliveryDto, toDeliveryDto } from './delivery-dto.ts'
import { attemptsOf, DELIVERY_ENTITY, findDeliveries } from './delivery-store.ts'

type ListDeps = Pick<Deps, 'table' | 'now'>

type DeliveryFilter = {
  readonly status?: DeliveryStatus | undefined
  readonly endpointId?: EndpointId | undefined
  readonly eventId?: EventId | undefined
}

/** A page is found by merging the endpoints' lists from their start, so it has a deepest one. */
const MAX_DEPTH = 2_000
/** Deliveries of one endpoint that are looked through, newest first, for those that no status leads to. */
const MAX_LOOKED_THROUGH = 5_000
const LOOK_PAGE = 100
/** By then due work has looked at a delivery that nothing became of, which lists it. */
const LISTED_BY_THEN_MS = 30 * MINUTE_MS
/** Lists read side by side. */
const CONCURRENCY = 10

/**
 * A client's deliveries, newest first, deleted endpoints' too: all of them, or those of a status, an endpoint or an
 * event. The index suggests; a row whose status has moved on since is left out, so a page may be shorter than asked.
 */
export const listDeliveries = async (
  deps: ListDeps,
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
  const lists = await mapInChunks(owners, CONCURRENCY, (owner) => newestOf(deps, owner, filter.status, depth))
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

/** No index entry leads from its status to a delivery that nothing went wrong with: those are looked for. */
const newestOf = async (
  deps: ListDeps,
  owner: EndpointId,
  status: DeliveryStatus | undefined,
  count: number,
): Promise<readonly ListKey[]> => {
  switch (status) {
    case undefined:
    case 'abandoned':
    case 'skipped':
      return newestKeys(deps, owner, status, count)
    case 'succeeded': {
      const { found, complete } = await lookFor(deps, owner, status, { count, since: undefined })
      if (complete) return found
      throw invalid(
        `page: only the newest ${MAX_LOOKED_THROUGH} deliveries of an endpoint are looked through`,
        { page: ['too far back'] },
        'Succeeded ones further back: without status, by event_id, or with get-payment.',
      )
    }
    case 'scheduled': {
      const since = addMs(deps.now(), -LISTED_BY_THEN_MS)
      const { found } = await lookFor(deps, owner, status, { count, since })
      const keys = [...(await newestKeys(deps, owner, status, count)), ...found]
      return [...new Map(keys.map((key) => [key.id, key])).values()].toSorted(newestFirst).slice(0, count)
    }
  }
}

/** The newest deliveries of a status, by looking at each; `complete` unless there may be more further back. */
const lookFor = async (
  deps: ListDeps,
  owner: EndpointId,
  status: DeliveryStatus,
  { count, since }: { readonly count: number; readonly since: Timestamp | undefined },
): Promise<{ readonly found: readonly ListKey[]; readonly complete: boolean }> => {
  const found: ListKey[] = []
  let cursor: Item | undefined
  for (let looked = 0; looked < MAX_LOOKED_THROUGH; looked += LOOK_PAGE) {
    const page = await deps.table.query({
      index: 'by-owner',
      partition: [owner, DELIVERY_ENTITY],
      newestFirst: true,
      limit: LOOK_PAGE,
      ...(since !== undefined && { range: { between: [since, END_OF_TIME] as const } }),
      ...(cursor && { cursor }),
    })
    const deliveries = await findDeliveries(
      deps,
      page.items.map(({ id }) => v.parse(DeliveryIdSchema, id)),
    )
    const matching = deliveries.filter((delivery) => delivery.status === status)
    found.push(...matching.map(({ createdAt, deliveryId }) => ({ at: createdAt, id: deliveryId })))
    cursor = page.cursor
    if (found.length >= count || !cursor) return { found: found.slice(0, count), complete: true }
  }
  return { found, complete: false }
}

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
  mapInChunks(deliveries, CONCURRENCY, async (delivery) => toDeliveryDto(delivery, await attemptsOf(deps, delivery)))
