import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import type { ClientId, EndpointId } from '../../ids.ts'
import { absent, all, type Condition, equals, exists, isNew } from '../../table/condition.ts'
import { endpointKey, endpointsPk } from '../../table/keys.ts'
import { put, type Step, update, updateFields } from '../../table/step.ts'
import type { QueryPage } from '../../table/table.ts'
import type { Timestamp } from '../../time.ts'
import { type Endpoint, EndpointSchema } from './endpoint.ts'

const READ_PAGE = 100
const MAX_READ_PAGES = 20

/** Reads an endpoint, a deleted one too, strongly consistent. */
export const findEndpoint = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  endpointId: EndpointId,
): Promise<Endpoint | undefined> => {
  const item = await deps.table.get(endpointKey(clientId, endpointId))
  return item && v.parse(EndpointSchema, item)
}

/**
 * All endpoints a client ever had, tombstones too, strongly consistent. Registration keeps their number far below what
 * is read here; more than that throws, since leaving one out would silently lose its events.
 */
export const listAllEndpoints = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<readonly Endpoint[]> => {
  const endpoints: Endpoint[] = []
  let cursor: QueryPage['cursor']
  for (let page = 0; page === 0 || cursor; page++) {
    assertInvariant(page < MAX_READ_PAGES, 'a client has more endpoints than can be read')
    const found = await deps.table.query({
      partition: [endpointsPk(clientId)],
      limit: READ_PAGE,
      ...(cursor && { cursor }),
    })
    endpoints.push(...found.items.map((item) => v.parse(EndpointSchema, item)))
    cursor = found.cursor
  }
  return endpoints
}

export const insertEndpoint = (endpoint: Endpoint): Step =>
  put(endpointKey(endpoint.clientId, endpoint.endpointId), endpoint, isNew)

/** The endpoint is not deleted and has not been changed since it was read, so an audit record's "before" is true. */
const asRead = ({ enabled, eventTypes }: Endpoint): Condition =>
  all(absent('deletedAt'), equals('enabled', enabled), equals('eventTypes', eventTypes))

export const changeEndpoint = (endpoint: Endpoint, changes: Partial<Pick<Endpoint, 'enabled' | 'eventTypes'>>): Step =>
  update(endpointKey(endpoint.clientId, endpoint.endpointId), { set: changes }, asRead(endpoint))

/** Leaves a tombstone: deliveries under way find out, and past ones still have an endpoint to be listed by. */
export const softDeleteEndpoint = (endpoint: Endpoint, deletedAt: Timestamp): Step =>
  update(endpointKey(endpoint.clientId, endpoint.endpointId), { set: { enabled: false, deletedAt } }, asRead(endpoint))

/** Says that the endpoint holds workers, unless somebody has said so. What operators set is out of reach here. */
export const markSlow = ({ clientId, endpointId }: Endpoint, slowSince: Timestamp): Step =>
  updateFields(endpointKey(clientId, endpointId), { set: { slowSince } }, all(exists, absent('slowSince')))

/** It answers again. Refused when that was said before: a newer mark stays. */
export const unmarkSlow = ({ clientId, endpointId, slowSince }: Endpoint): Step =>
  updateFields(endpointKey(clientId, endpointId), { remove: ['slowSince'] }, equals('slowSince', slowSince))
