import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import type { ClientId, EndpointId } from '../../ids.ts'
import { absent, all, type Condition, equals, exists, isNew, unchanged } from '../../table/condition.ts'
import { ENDPOINT_SK_PREFIX, endpointKey, endpointsPk, goneEndpointKey } from '../../table/keys.ts'
import { queryPages } from '../../table/query-pages.ts'
import { put, remove, type Step, update, updateFields } from '../../table/step.ts'
import type { Timestamp } from '../../time.ts'
import { type Endpoint, EndpointSchema, type SealedEndpoint } from './endpoint.ts'

/** Endpoints of one client, enabled or not: each one costs every event of that client a delivery. */
export const MOST_ENDPOINTS = 20

/** Two registrations at once may each have seen room for one. */
const MOST_READ = 2 * MOST_ENDPOINTS
const READ_PAGE = 100

/** What is read of an endpoint: all but its sealed secret. */
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

/** An endpoint, a deleted one too. Read one after the other: a deletion in between would hide it from a batch. */
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

/** The endpoints of a client, strongly consistent; of more than may be there the first. */
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

/** It has not been changed since it was read, so an audit record's "before" is true. */
const asRead = ({ enabled, eventTypes }: Endpoint): Condition =>
  all(equals('enabled', enabled), equals('eventTypes', eventTypes))

export const changeEndpoint = (endpoint: Endpoint, changes: Partial<Pick<Endpoint, 'enabled' | 'eventTypes'>>): Step =>
  update(endpointKey(endpoint.clientId, endpoint.endpointId), { set: changes }, asRead(endpoint))

/**
 * Moves it, without its secret, to where no event looks for endpoints. Past deliveries still have an endpoint to be listed
 * by.
 */
export const moveToGone = (endpoint: Endpoint, deletedAt: Timestamp) => ({
  endpoint: remove(endpointKey(endpoint.clientId, endpoint.endpointId), asRead(endpoint)),
  gone: put(goneEndpointKey(endpoint.clientId, endpoint.endpointId), { ...endpoint, enabled: false, deletedAt }),
})

/** Says that the endpoint holds workers, unless somebody has said so. What operators set is out of reach here. */
export const markSlow = ({ clientId, endpointId }: Endpoint, slowSince: Timestamp): Step =>
  updateFields(endpointKey(clientId, endpointId), { set: { slowSince } }, all(exists, absent('slowSince')))

/** It answers again. Refused when that was said before: a newer mark stays. */
export const unmarkSlow = ({ clientId, endpointId, slowSince }: Endpoint): Step =>
  updateFields(endpointKey(clientId, endpointId), { remove: ['slowSince'] }, equals('slowSince', slowSince))

/** Takes the endpoint's next message to the operators. False when somebody else has taken it since it was read. */
export const noteAlert = async (
  deps: Pick<Deps, 'table'>,
  { clientId, endpointId, deletedAt, lastAlertAt }: Endpoint,
  now: Timestamp,
): Promise<boolean> => {
  const key = deletedAt === undefined ? endpointKey(clientId, endpointId) : goneEndpointKey(clientId, endpointId)
  const step = updateFields(key, { set: { lastAlertAt: now } }, all(exists, unchanged('lastAlertAt', lastAlertAt)))
  return (await deps.table.write(step)).applied
}

/** Nothing was told at `at`: the time of the message before counts again, unless another worker has taken the next one. */
export const takeBackAlert = async (
  deps: Pick<Deps, 'table'>,
  { clientId, endpointId, deletedAt, lastAlertAt }: Endpoint,
  at: Timestamp,
): Promise<void> => {
  const key = deletedAt === undefined ? endpointKey(clientId, endpointId) : goneEndpointKey(clientId, endpointId)
  const change = lastAlertAt === undefined ? { remove: ['lastAlertAt'] } : { set: { lastAlertAt } }
  await deps.table.write(updateFields(key, change, equals('lastAlertAt', at)))
}
