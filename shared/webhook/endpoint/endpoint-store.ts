import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import type { ClientId, EndpointId } from '../../ids.ts'
import { ENDPOINT_SK_PREFIX, endpointKey, endpointsPk, goneEndpointKey } from '../../table/keys.ts'
import { queryPages } from '../../table/merged-pages.ts'
import {
  absent,
  all,
  type Condition,
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
import type { Timestamp } from '../../time.ts'
import { type Endpoint, EndpointSchema, type SealedEndpoint } from './endpoint.ts'

/** The most endpoints of one client, enabled or not: each costs every event of that client a delivery. */
export const MOST_ENDPOINTS = 20

/** Two concurrent registrations may each have seen room for one. */
const MOST_READ = 2 * MOST_ENDPOINTS
const READ_PAGE = 100

/** Fields that are read of an endpoint: all but its sealed secret. */
const FIELDS = Object.keys(EndpointSchema.entries)

/** Reads an endpoint that is not deleted, strongly consistent. */
export const findEndpoint = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  endpointId: EndpointId,
): Promise<Endpoint | undefined> => {
  const item = await deps.table.get(endpointKey(clientId, endpointId), FIELDS)
  return item && v.parse(EndpointSchema, item)
}

/**
 * An endpoint, including a deleted one. The two keys are read one after the other, because a batch could miss a
 * deletion in between.
 */
export const findEndpointEver = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  endpointId: EndpointId,
): Promise<Endpoint | undefined> => {
  const item =
    (await deps.table.get(endpointKey(clientId, endpointId), FIELDS)) ??
    (await deps.table.get(goneEndpointKey(clientId, endpointId), FIELDS))
  return item && v.parse(EndpointSchema, item)
}

/** The endpoints of a client, strongly consistent, up to the limit. */
export const liveEndpoints = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<readonly Endpoint[]> => {
  const found: Endpoint[] = []
  const range = { beginsWith: ENDPOINT_SK_PREFIX }
  const asked = { partition: [endpointsPk(clientId)], range, limit: MOST_READ, fields: FIELDS }
  // A page may end before its limit.
  for await (const items of queryPages(deps, asked)) {
    found.push(...items.map((item) => v.parse(EndpointSchema, item)))
    if (found.length >= MOST_READ) break
  }
  return found.slice(0, MOST_READ)
}

/** All endpoints that a client ever had, strongly consistent. */
export const listEndpointsEver = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
): Promise<readonly Endpoint[]> => {
  const found: Endpoint[] = []
  for await (const items of queryPages(deps, {
    partition: [endpointsPk(clientId)],
    limit: READ_PAGE,
    fields: FIELDS,
  })) {
    found.push(...items.map((item) => v.parse(EndpointSchema, item)))
  }
  return found
}

export const insertEndpoint = (endpoint: SealedEndpoint): Step =>
  put(endpointKey(endpoint.clientId, endpoint.endpointId), endpoint, isNew)

/** Requires that it has not changed since it was read, so that an audit record's "before" is true. */
const asRead = ({ enabled, eventTypes }: Endpoint): Condition =>
  all(equals('enabled', enabled), equals('eventTypes', eventTypes))

export const changeEndpoint = (endpoint: Endpoint, changes: Partial<Pick<Endpoint, 'enabled' | 'eventTypes'>>): Step =>
  update(endpointKey(endpoint.clientId, endpoint.endpointId), { set: changes }, asRead(endpoint))

/**
 * Moves a deleted endpoint, without its secret, to a key that events do not read. Past deliveries can still be listed
 * by it.
 */
export const moveToGone = (endpoint: Endpoint, deletedAt: Timestamp) => ({
  endpoint: remove(endpointKey(endpoint.clientId, endpoint.endpointId), asRead(endpoint)),
  gone: put(goneEndpointKey(endpoint.clientId, endpoint.endpointId), { ...endpoint, enabled: false, deletedAt }),
})

/** Marks that the endpoint holds workers, unless it is marked already. It cannot change what operators set. */
export const markSlow = ({ clientId, endpointId }: Endpoint, slowSince: Timestamp): Step =>
  updateFields(endpointKey(clientId, endpointId), { set: { slowSince } }, all(exists, absent('slowSince')))

/** Marks that it answers again. Refused when a newer mark exists. */
export const unmarkSlow = ({ clientId, endpointId, slowSince }: Endpoint): Step =>
  updateFields(endpointKey(clientId, endpointId), { remove: ['slowSince'] }, equals('slowSince', slowSince))

/** Claims the endpoint's next alert. False when another worker has claimed it since it was read. */
export const noteAlert = async (
  deps: Pick<Deps, 'table'>,
  { clientId, endpointId, deletedAt, lastAlertAt }: Endpoint,
  now: Timestamp,
): Promise<boolean> => {
  const key = deletedAt === undefined ? endpointKey(clientId, endpointId) : goneEndpointKey(clientId, endpointId)
  const step = updateFields(key, { set: { lastAlertAt: now } }, all(exists, unchanged('lastAlertAt', lastAlertAt)))
  return (await deps.table.write(step)).applied
}

/** The alert at `at` failed: the time of the previous one counts again, unless another worker has claimed the next. */
export const takeBackAlert = async (
  deps: Pick<Deps, 'table'>,
  { clientId, endpointId, deletedAt, lastAlertAt }: Endpoint,
  at: Timestamp,
): Promise<void> => {
  const key = deletedAt === undefined ? endpointKey(clientId, endpointId) : goneEndpointKey(clientId, endpointId)
  const change = lastAlertAt === undefined ? { remove: ['lastAlertAt'] } : { set: { lastAlertAt } }
  await deps.table.write(updateFields(key, change, equals('lastAlertAt', at)))
}
