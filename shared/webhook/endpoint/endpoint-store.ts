import * as v from 'valibot'
import type { ListDeps, TableDeps } from '../../deps.ts'
import { requireRow } from '../../field-errors.ts'
import type { ClientId, EndpointIds } from '../../ids.ts'
import { readableRows, readRows } from '../../if-valid.ts'
import { newestFirst } from '../../page.ts'
import { fieldsFrom, type Item } from '../../table/attributes.ts'
import {
  clientKey,
  deletedEndpointKey,
  ENDPOINT_SK_PREFIX,
  endpointKey,
  endpointsPk,
  idOf,
} from '../../table/keys.ts'
import { queryAll } from '../../table/list-items.ts'
import {
  absent,
  all,
  any,
  below,
  equals,
  exists,
  isNew,
  put,
  remove,
  type Step,
  unchanged,
  update,
  updateFields,
} from '../../table/step.ts'
import type { Range } from '../../table/table.ts'
import type { Timestamp } from '../../time.ts'
import { type Endpoint, EndpointSchema, type SealedEndpoint } from './endpoint.ts'

/** Enabled or not: each endpoint costs every event of its client a delivery. */
export const MAX_ENDPOINTS = 20
const READ_PAGE = 100

const FIELDS = Object.keys(EndpointSchema.entries)

export async function findEndpoint(deps: TableDeps, ids: EndpointIds) {
  return v.parse(v.optional(EndpointSchema), await deps.table.get(endpointKey(ids), FIELDS))
}

/** For an operator. Throws the same 404 for a deleted endpoint and another client's. */
export async function requireEndpoint(deps: TableDeps, ids: EndpointIds): Promise<Endpoint> {
  return readableEndpoint(ids, await deps.table.get(endpointKey(ids), FIELDS))
}

export async function requireEndpointEver(deps: TableDeps, ids: EndpointIds): Promise<Endpoint> {
  return readableEndpoint(ids, await endpointItem(deps, ids))
}

function readableEndpoint({ clientId, endpointId }: EndpointIds, item: Item | undefined) {
  return requireRow(EndpointSchema, item, 'endpoint', endpointId, clientId)
}

/**
 * The row of an endpoint, also of a deleted one, and also if the row cannot be read. Both keys are
 * read one after the other: a batch could miss a deletion.
 */
export async function endpointItem(deps: TableDeps, ids: EndpointIds) {
  const live = await deps.table.get(endpointKey(ids), FIELDS)
  return live ?? deps.table.get(deletedEndpointKey(ids), FIELDS)
}

/**
 * Deleted endpoints included, unless a range leaves them out. The key says which endpoint a row is:
 * the worker finds it by its key.
 */
export async function listEndpoints(deps: TableDeps, clientId: ClientId, range?: Range) {
  const fields = ['sk', ...FIELDS]
  const query = { partition: [endpointsPk(clientId)], range, limit: READ_PAGE, fields }
  const items = await queryAll(deps, query)
  const own = items.map((item) => ({ ...item, endpointId: idOf(String(item['sk'])), clientId }))
  return readRows(EndpointSchema, own, ({ endpointId }) => endpointId)
}

/**
 * Money of a client must not wait for an endpoint that cannot be read. When the endpoint can be
 * read again, a redelivery since then creates what it missed.
 */
export async function liveEndpoints(
  deps: ListDeps,
  clientId: ClientId,
): Promise<readonly Endpoint[]> {
  const live = await listEndpoints(deps, clientId, { beginsWith: ENDPOINT_SK_PREFIX })
  return readableRows(deps, 'endpoint', live)
}

/** Registration limits their number to what one answer holds. */
export async function newestEndpoints(deps: TableDeps, clientId: ClientId) {
  const live = await listEndpoints(deps, clientId, { beginsWith: ENDPOINT_SK_PREFIX })
  return { ...live, rows: live.rows.toSorted(newestFirst(({ endpointId }) => endpointId)) }
}

export function insertEndpoint(endpoint: SealedEndpoint): Step {
  return put(endpointKey(endpoint), endpointRow(endpoint), isNew)
}

export function endpointRow({ sealedSecret, ...endpoint }: SealedEndpoint) {
  return endpoint.deletedAt === undefined
    ? { ...endpoint, sealedSecret }
    : { ...endpoint, enabled: false }
}

/** The client's row has the count. A new endpoint above the limit is refused. */
export function countEndpoint(clientId: ClientId, by: 1 | -1): Step {
  const hasRoom = any(absent('endpointCount'), below('endpointCount', MAX_ENDPOINTS))
  return updateFields(
    clientKey(clientId),
    { add: { endpointCount: by } },
    by === 1 ? hasRoom : exists,
  )
}

export function changeEndpoint(
  endpoint: Endpoint,
  changes: Partial<Pick<Endpoint, 'enabled' | 'eventTypes'>>,
): Step {
  return update(endpointKey(endpoint), { set: changes }, isAsRead(endpoint))
}

/** Makes sure that an audit record's "before" is true. */
function isAsRead({ enabled, eventTypes }: Endpoint) {
  return all(equals('enabled', enabled), equals('eventTypes', eventTypes))
}

/** Moves a deleted endpoint, without its secret, to a key that events do not read. */
export function markDeleted(endpoint: Endpoint, deletedAt: Timestamp) {
  return {
    endpoint: remove(endpointKey(endpoint), isAsRead(endpoint)),
    gone: put(deletedEndpointKey(endpoint), endpointRow({ ...endpoint, deletedAt })),
    client: countEndpoint(endpoint.clientId, -1),
  }
}

/** The rows of a live endpoint and of a deleted one, also if they cannot be read. */
export function endpointItems(deps: TableDeps, ids: EndpointIds) {
  return Promise.all([
    deps.table.get(endpointKey(ids), FIELDS),
    deps.table.get(deletedEndpointKey(ids), FIELDS),
  ])
}

/** Of a recount: the row that the records do not say. */
export function removeEndpoint(endpoint: Endpoint, isDeleted: boolean): Step {
  const key = isDeleted ? deletedEndpointKey(endpoint) : endpointKey(endpoint)
  return remove(key, exists)
}

/** Of a recount: the row becomes as the records say, and keeps its secret. */
export function restoreEndpoint(endpoint: Endpoint, { enabled, eventTypes }: Item): Step {
  return update(
    endpointKey(endpoint),
    { set: endpoint, remove: ['deletedAt', 'slowSince', 'lastAlertAt'] },
    all(exists, unchanged('enabled', enabled), unchanged('eventTypes', eventTypes)),
  )
}

/** Changes deleted endpoints too. Refused when the mark has changed after the read. */
export function moveMark(
  endpoint: EndpointIds & Pick<Endpoint, 'deletedAt' | 'slowSince' | 'lastAlertAt'>,
  mark: 'slowSince' | 'lastAlertAt',
  time: Timestamp | undefined,
): Step {
  const key =
    endpoint.deletedAt === undefined ? endpointKey(endpoint) : deletedEndpointKey(endpoint)
  const changes =
    time === undefined ? { remove: [mark] as const } : { set: fieldsFrom([[mark, time]]) }
  return updateFields(key, changes, all(exists, unchanged(mark, endpoint[mark])))
}
