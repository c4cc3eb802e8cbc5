import type { TableDeps } from '../../deps.ts'
import { endpointKey, goneEndpointKey } from '../../table/keys.ts'
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
import type { Endpoint, SealedEndpoint } from './endpoint.ts'

export const insertEndpoint = (endpoint: SealedEndpoint): Step =>
  put(endpointKey(endpoint.clientId, endpoint.endpointId), endpoint, isNew)

/** Requires that it has not changed since it was read, so that an audit record's "before" is true. */
const asRead = ({ enabled, eventTypes }: Endpoint): Condition =>
  all(equals('enabled', enabled), equals('eventTypes', eventTypes))

export const changeEndpoint = (endpoint: Endpoint, changes: Partial<Pick<Endpoint, 'enabled' | 'eventTypes'>>): Step =>
  update(endpointKey(endpoint.clientId, endpoint.endpointId), { set: changes }, asRead(endpoint))

/** Moves a deleted endpoint, without its secret, to a key that events do not read. */
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
export const noteAlert = async (deps: TableDeps, endpoint: Endpoint, now: Timestamp): Promise<boolean> => {
  const { clientId, endpointId, deletedAt, lastAlertAt } = endpoint
  const key = deletedAt === undefined ? endpointKey(clientId, endpointId) : goneEndpointKey(clientId, endpointId)
  const step = updateFields(key, { set: { lastAlertAt: now } }, all(exists, unchanged('lastAlertAt', lastAlertAt)))
  return (await deps.table.write(step)).applied
}

/** The alert at `at` failed: the time of the previous one counts again, unless another worker has claimed the next. */
export const takeBackAlert = async (deps: TableDeps, endpoint: Endpoint, at: Timestamp): Promise<void> => {
  const { clientId, endpointId, deletedAt, lastAlertAt } = endpoint
  const key = deletedAt === undefined ? endpointKey(clientId, endpointId) : goneEndpointKey(clientId, endpointId)
  const change = lastAlertAt === undefined ? { remove: ['lastAlertAt'] } : { set: { lastAlertAt } }
  await deps.table.write(updateFields(key, change, equals('lastAlertAt', at)))
}
