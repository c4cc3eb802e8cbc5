import { mapInChunks } from '../../chunks.ts'
import type { Deps, ListDeps, TableDeps } from '../../deps.ts'
import { invalid, notFound } from '../../errors.ts'
import {
  type ClientId,
  DeliveryIdSchema,
  deliveryIdFor,
  type EndpointId,
  EndpointIdSchema,
  type EventId,
} from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { firstOfPage, itemsOfPage, newestFirst, type Page } from '../../page.ts'
import type { Item } from '../../table/attributes.ts'
import { idOf, isTestKey } from '../../table/keys.ts'
import { mergedPages, shareOf } from '../../table/merged-pages.ts'
import { reserveUnits } from '../../table/used-units.ts'
import { addMs, END_OF_TIME, MINUTE_MS } from '../../time.ts'
import { endpointItem, listEndpoints } from '../endpoint/endpoint-store.ts'
import type { Delivery, DeliveryAttempt, DeliveryStatus } from './delivery.ts'
import {
  attemptsOf,
  DELIVERY_ENTITY,
  findDeliveries,
  type NamedDelivery,
} from './delivery-store.ts'

export type DeliveryListing = {
  readonly clientId: ClientId
  readonly status?: DeliveryStatus | undefined
  readonly endpointId?: EndpointId | undefined
  readonly eventId?: EventId | undefined
  readonly page: Page
  /** The bound of a search for a status without an index, newest first. */
  readonly maxRead: number
}

type SearchDeps = ListDeps & Pick<Deps, 'now'>

export type ShownDelivery = {
  readonly delivery: Delivery
  readonly attempts: readonly DeliveryAttempt[]
}

/** A page is found by reading the endpoints' lists from their start, so there is a last page. */
const MAX_DEPTH = 2_000
const CONCURRENCY = 10
/**
 * Each attempt has 1 KB of an answer, which JSON can make seven times as long. A Lambda answers at
 * most 6 MB.
 */
const MAX_ATTEMPTS_TOGETHER = 800

/**
 * A client's deliveries, newest first, deleted endpoints included. A row of another client, or of
 * another status than its index entry, is left out: a page may be shorter than asked. `complete`
 * unless there may be more scheduled deliveries that no index lists yet. `unreadableIds` may have
 * another status. Throws 404 for an endpoint that the client never had.
 */
export async function listDeliveries(deps: SearchDeps, listing: DeliveryListing) {
  const { clientId, status, endpointId, eventId, page } = listing
  const owners = endpointId === undefined ? await allEndpointIds(deps, clientId) : [endpointId]
  if (endpointId && !(await endpointItem(deps, { clientId, endpointId })))
    throw notFound('endpoint')
  const isListed = (delivery: Delivery) =>
    delivery.clientId === clientId && (status === undefined || delivery.status === status)
  const { keys, complete } =
    eventId === undefined
      ? await keysOfPage(deps, owners, listing)
      : {
          keys: keysOfEvent(owners, eventId).concat(keysOfEvent(owners, eventId, true)),
          complete: true,
        }
  const { rows, ...read } = await findDeliveries(deps, keys)
  const listed = rows.filter(isListed).toSorted(newestKeyFirst)
  const shown = eventId === undefined ? listed : itemsOfPage(listed, page)
  return { deliveries: await withAttempts(deps, shown), ...read, complete }
}

async function allEndpointIds(deps: TableDeps, clientId: ClientId) {
  const { rows, unreadableIds } = await listEndpoints(deps, clientId)
  return [
    ...rows.map(({ endpointId }) => endpointId),
    ...unreadableIds.flatMap((id) => ifValid(EndpointIdSchema, id) ?? []),
  ]
}

function keysOfEvent(owners: readonly EndpointId[], eventId: EventId, isTest?: true) {
  return owners.map((endpointId) => ({ deliveryId: deliveryIdFor(eventId, endpointId), isTest }))
}

type ListKey = NamedDelivery & { readonly createdAt: string }

const newestKeyFirst = newestFirst<ListKey>(({ deliveryId }) => deliveryId)

/** A row has about 1 KB of an answer. */
const UNITS_AN_ATTEMPT = 1 / 3

/** If an answer has many deliveries and attempts, each shows its newest. */
async function withAttempts(deps: TableDeps, deliveries: readonly Delivery[], lists = 1) {
  const most = Math.max(1, Math.floor(MAX_ATTEMPTS_TOGETHER / (deliveries.length * lists)))
  const attempts = deliveries.reduce((sum, delivery) => sum + Math.min(most, delivery.attempts), 0)
  await reserveUnits(deliveries.length + attempts * UNITS_AN_ATTEMPT)
  return mapInChunks(deliveries, CONCURRENCY, async (delivery) => ({
    delivery,
    attempts: await attemptsOf(deps, delivery, most),
  }))
}

async function keysOfPage(
  deps: SearchDeps,
  owners: readonly EndpointId[],
  listing: DeliveryListing,
) {
  const { status, page, maxRead } = listing
  const depth = firstOfPage(page) + page.perPage
  const query = { status, count: Math.min(depth, MAX_DEPTH), maxRead }
  const { keys, complete } = await newestKeys(deps, owners, query)
  if (depth > MAX_DEPTH && keys.length >= MAX_DEPTH) {
    const hint = `The last page is ${Math.floor(MAX_DEPTH / page.perPage)}. Find an older delivery by its event_id.`
    throw tooFarError(`only the newest ${MAX_DEPTH} deliveries can be listed`, hint)
  }
  return { keys: itemsOfPage(keys, page), complete }
}

type KeyQuery = Pick<DeliveryListing, 'status' | 'maxRead'> & { readonly count: number }

/** Within this time due work checks, and lists, a delivery without a result. */
const LISTED_WITHIN_MS = 30 * MINUTE_MS

/** No index lists deliveries without a failure by status, so each delivery is read. */
async function newestKeys(deps: SearchDeps, owners: readonly EndpointId[], query: KeyQuery) {
  const { status, count, maxRead } = query
  if (status === 'succeeded') {
    const found = await searchByReading(deps, owners, query)
    if (found.complete) return found
    const hint = 'Find an older one with endpoint_id, without status, or by its event_id.'
    throw tooFarError(`only the newest ${maxRead} deliveries are searched`, hint)
  }
  const statusKeys = await listedKeys(deps, owners, status, count)
  if (status !== 'scheduled') return { keys: statusKeys, complete: true }
  const { keys, complete } = await searchByReading(
    deps,
    owners,
    query,
    addMs(deps.now(), -LISTED_WITHIN_MS),
  )
  const keysById = new Map([...statusKeys, ...keys].map((key) => [key.deliveryId, key]))
  return { keys: [...keysById.values()].toSorted(newestKeyFirst).slice(0, count), complete }
}

const READ_PAGE = 100

/** `complete` unless older deliveries may match. */
async function searchByReading(
  deps: ListDeps,
  owners: readonly EndpointId[],
  { status, count, maxRead }: KeyQuery,
  since = '0',
) {
  const partitions = owners.map((owner) => [owner, DELIVERY_ENTITY])
  const range = { between: [since, END_OF_TIME] } as const
  const limit = Math.min(READ_PAGE, shareOf(maxRead, owners))
  const pages = mergedPages(deps, { index: 'by-owner', partitions, range, limit })
  const keys: ListKey[] = []
  let readsLeft = maxRead
  for await (const { items, more } of pages) {
    await reserveUnits(items.length)
    const named = items.slice(0, readsLeft).flatMap(listKeyIn)
    const { rows } = await findDeliveries(deps, named)
    const others = rows.flatMap((row) => (row.status === status ? [] : row.deliveryId))
    keys.push(...named.filter(({ deliveryId }) => !others.includes(deliveryId)))
    if (keys.length >= count) break
    if (items.length > readsLeft || (items.length === readsLeft && more))
      return { keys, complete: false }
    readsLeft -= items.length
  }
  return { keys: keys.slice(0, count), complete: true }
}

/** By the row's key: an altered `id`, or a row of another kind, must not stop the list. */
export function listKeyIn({ listedAt, pk }: Item): readonly ListKey[] {
  const deliveryId = ifValid(DeliveryIdSchema, idOf(String(pk)))
  const isTest = isTestKey({ pk }) || undefined
  return deliveryId === undefined ? [] : [{ createdAt: String(listedAt), deliveryId, isTest }]
}

function tooFarError(reason: string, hint: string) {
  return invalid(`page: ${reason}`, { page: ['too far back'] }, hint)
}

export async function listedKeys(
  deps: TableDeps,
  owners: readonly EndpointId[],
  status: DeliveryStatus | undefined,
  count: number,
): Promise<readonly ListKey[]> {
  const list =
    status === undefined
      ? ({
          index: 'by-owner',
          partitions: owners.map((owner) => [owner, DELIVERY_ENTITY]),
        } as const)
      : ({
          index: 'by-status',
          partitions: owners.map((owner) => [owner, DELIVERY_ENTITY, status]),
        } as const)
  const limit = Math.min(count, shareOf(count, owners) + READ_PAGE)
  const keys: ListKey[] = []
  for await (const { items } of mergedPages(deps, { ...list, limit })) {
    keys.push(...items.flatMap(listKeyIn))
    if (keys.length >= count) break
  }
  return keys.slice(0, count)
}

/** `events`: so many share one answer. */
export async function deliveriesOfEvent(
  deps: ListDeps,
  clientId: ClientId,
  eventId: EventId,
  events = 1,
) {
  const owners = await allEndpointIds(deps, clientId)
  const { rows } = await findDeliveries(deps, keysOfEvent(owners, eventId))
  return withAttempts(deps, rows.toSorted(newestKeyFirst), events)
}
