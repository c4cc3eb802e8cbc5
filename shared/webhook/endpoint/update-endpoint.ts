import type { TableDeps } from '../../deps.ts'
import { GatewayError, notFound } from '../../errors.ts'
import type { ClientId, EndpointId } from '../../ids.ts'
import { type RecordDeps, recordChange } from '../../operator/audit-record-store.ts'
import type { Steps } from '../../table/table.ts'
import type { Endpoint } from './endpoint.ts'
import { toEndpointDto } from './endpoint-dto.ts'
import { changeEndpoint, moveToGone } from './endpoint-store.ts'
import { findEndpoint, findEndpointEver } from './find-endpoints.ts'

type Target = { readonly clientId: ClientId; readonly endpointId: EndpointId }

/** An endpoint of this client that is not deleted. Throws 404 otherwise, also for another client's. */
export const requireEndpoint = async (deps: TableDeps, { clientId, endpointId }: Target): Promise<Endpoint> => {
  const endpoint = await findEndpoint(deps, clientId, endpointId)
  if (!endpoint) throw notFound('endpoint')
  return endpoint
}

type Update = Target & {
  readonly operator: string
  readonly enabled: boolean | undefined
  readonly eventTypes: Endpoint['eventTypes'] | undefined
}

/**
 * Enables, disables or changes the subscription. A change without effect leaves no record. `redeliver` sends what the
 * endpoint missed.
 */
export const updateEndpoint = async (
  deps: RecordDeps,
  { clientId, endpointId, operator, enabled, eventTypes }: Update,
): Promise<Endpoint> => {
  const before = await requireEndpoint(deps, { clientId, endpointId })
  const after = { ...before, enabled: enabled ?? before.enabled, eventTypes: eventTypes ?? before.eventTypes }
  if (after.enabled === before.enabled && String(after.eventTypes) === String(before.eventTypes)) return before
  const dtos = { before: toEndpointDto(before), after: toEndpointDto(after) }
  await write(
    deps,
    { subject: endpointId, clientId, operator, action: 'update-endpoint', ...dtos },
    { endpoint: changeEndpoint(before, { enabled: after.enabled, eventTypes: after.eventTypes }) },
  )
  return after
}

/**
 * Deletes an endpoint and its sealed secret. Its deliveries in progress become `skipped`. A repeat changes nothing and
 * answers the same.
 */
export const deleteEndpoint = async (
  deps: RecordDeps,
  { clientId, endpointId, operator }: Target & { readonly operator: string },
): Promise<Endpoint> => {
  const before = await findEndpointEver(deps, clientId, endpointId)
  if (!before) throw notFound('endpoint')
  const after = { ...before, enabled: false, deletedAt: before.deletedAt ?? deps.now() }
  if (before.deletedAt === undefined) {
    const record = { subject: endpointId, clientId, operator, action: 'delete-endpoint', before: toEndpointDto(before) }
    await write(deps, record, moveToGone(before, after.deletedAt))
  }
  return after
}

const write = async (
  deps: RecordDeps,
  record: Parameters<typeof recordChange>[1],
  steps: Steps<string>,
): Promise<void> => {
  const { applied } = await recordChange(deps, record, steps)
  if (applied) return
  throw new GatewayError('conflict', 'another operator changed the endpoint at the same time', {
    actionHint: 'Look at it with list-endpoints and try again.',
  })
}
