import * as v from 'valibot'
import { findClient } from '../../client/client-store.ts'
import type { TableDeps } from '../../deps.ts'
import { notFound } from '../../errors.ts'
import type { ClientId, EndpointId } from '../../ids.ts'
import { firstOfPage, type Page } from '../../page.ts'
import { ENDPOINT_SK_PREFIX, endpointKey, endpointsPk, goneEndpointKey } from '../../table/keys.ts'
import { queryPages } from '../../table/list-items.ts'
import { type Endpoint, EndpointSchema } from './endpoint.ts'

/** The most endpoints of one client, enabled or not: each costs every event of that client a delivery. */
export const MOST_ENDPOINTS = 20

/** Two concurrent registrations may each have seen room for one. */
const MOST_READ = 2 * MOST_ENDPOINTS
const READ_PAGE = 100

/** Fields that are read of an endpoint: all but its sealed secret. */
const FIELDS = Object.keys(EndpointSchema.entries)

export const findEndpoint = async (
  deps: TableDeps,
  clientId: ClientId,
  endpointId: EndpointId,
): Promise<Endpoint | undefined> => {
  const item = await deps.table.get(endpointKey(clientId, endpointId), FIELDS)
  return item && v.parse(EndpointSchema, item)
}

/** An endpoint, or a deleted one. One read after the other: a batch could miss a deletion in between. */
export const findEndpointEver = async (
  deps: TableDeps,
  clientId: ClientId,
  endpointId: EndpointId,
): Promise<Endpoint | undefined> => {
  const live = await findEndpoint(deps, clientId, endpointId)
  if (live) return live
  const item = await deps.table.get(goneEndpointKey(clientId, endpointId), FIELDS)
  return item && v.parse(EndpointSchema, item)
}

type EndpointsRead = { readonly range?: { readonly beginsWith: string }; readonly limit: number; readonly most: number }

const readEndpoints = async (deps: TableDeps, clientId: ClientId, { range, limit, most }: EndpointsRead) => {
  const found: Endpoint[] = []
  // A page may end before its limit.
  for await (const items of queryPages(deps, { partition: [endpointsPk(clientId)], range, limit, fields: FIELDS })) {
    found.push(...items.map((item) => v.parse(EndpointSchema, item)))
    if (found.length >= most) break
  }
  return found.slice(0, most)
}

/** The endpoints of a client, strongly consistent, up to the limit. */
export const liveEndpoints = (deps: TableDeps, clientId: ClientId): Promise<readonly Endpoint[]> =>
  readEndpoints(deps, clientId, { range: { beginsWith: ENDPOINT_SK_PREFIX }, limit: MOST_READ, most: MOST_READ })

export const listEndpointsEver = (deps: TableDeps, clientId: ClientId): Promise<readonly Endpoint[]> =>
  readEndpoints(deps, clientId, { limit: READ_PAGE, most: Infinity })

/** A client's endpoints that are not deleted, newest first. Throws 404 for an unknown client. */
export const listEndpoints = async (deps: TableDeps, clientId: ClientId, page: Page): Promise<readonly Endpoint[]> => {
  if (!(await findClient(deps, clientId))) throw notFound('client')
  return (await newestEndpoints(deps, clientId)).slice(firstOfPage(page), firstOfPage(page) + page.perPage)
}

/** All of them: registration limits their number to what one answer holds. */
export const newestEndpoints = async (deps: TableDeps, clientId: ClientId): Promise<readonly Endpoint[]> =>
  (await liveEndpoints(deps, clientId)).toSorted(newestFirst)

const sortKey = ({ createdAt, endpointId }: Endpoint) => `${createdAt} ${endpointId}`
const newestFirst = (a: Endpoint, b: Endpoint) => (sortKey(a) < sortKey(b) ? 1 : -1)
