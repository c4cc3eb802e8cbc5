import * as v from 'valibot'
import { requireClient } from '../../client/client-store.ts'
import type { Deps } from '../../deps.ts'
import { assertInvariant, GatewayError, invalid, notFound } from '../../errors.ts'
import { type ClientId, EndpointIdSchema } from '../../ids.ts'
import { type RecordDeps, recordChange } from '../../operator/audit-record-store.ts'
import type { Steps } from '../../table/table.ts'
import type { Endpoint } from './endpoint.ts'
import { toEndpointDto } from './endpoint-dto.ts'
import {
  changeEndpoint,
  findEndpointEver,
  insertEndpoint,
  liveEndpoints,
  MOST_ENDPOINTS,
  moveToGone,
  requireEndpoint,
} from './endpoint-store.ts'
import { assertSafeUrl, urlRulesOf } from './safe-url.ts'

type RegisterDeps = Pick<
  Deps,
  'table' | 'stage' | 'sealer' | 'resolveHost' | 'randomBytes' | 'now' | 'newId' | 'invocation'
>

const SECRET_BYTES = 32

type Registration = Pick<Endpoint, 'clientId' | 'url' | 'eventTypes'> & { readonly operator: string }

/**
 * Registers an endpoint, enabled, and answers its signing secret this one time (spec 2.4). The row keeps the secret
 * sealed. One transaction writes the row and its record, so a crash before it leaves nothing. After a later crash
 * the secret is lost: delete the endpoint. A repeat makes a second endpoint, as a rotation needs (spec 6.4).
 */
export const registerEndpoint = async (
  deps: RegisterDeps,
  { clientId, operator, url, eventTypes }: Registration,
): Promise<{ readonly endpoint: Endpoint; readonly signingSecret: string }> => {
  await requireClient(deps, clientId)
  await assertSafeUrl(url, urlRulesOf(deps.stage), deps.resolveHost)
  await assertRoomForOneMore(deps, clientId)
  const endpointId = v.parse(EndpointIdSchema, deps.newId())
  const endpoint: Endpoint = { endpointId, clientId, url, eventTypes, enabled: true, createdAt: deps.now() }
  // Standard base64: most libraries that verify Standard Webhooks refuse the other alphabet.
  const signingSecret = `whsec_${deps.randomBytes(SECRET_BYTES).toString('base64')}`
  const sealedSecret = await deps.sealer.seal(signingSecret, endpoint)
  const after = toEndpointDto(endpoint)
  const record = { subject: endpointId, clientId, operator, action: 'register-endpoint', after }
  const { applied } = await recordChange(deps, record, { endpoint: insertEndpoint({ ...endpoint, sealedSecret }) })
  assertInvariant(applied, 'a new endpoint has the id of another one')
  return { endpoint, signingSecret }
}

const assertRoomForOneMore = async (deps: RegisterDeps, clientId: ClientId): Promise<void> => {
  const endpoints = await liveEndpoints(deps, clientId)
  if (endpoints.length < MOST_ENDPOINTS) return
  throw invalid(`a client has at most ${MOST_ENDPOINTS} endpoints`, undefined, 'Delete one that is not used.')
}

type Target = Pick<Endpoint, 'clientId' | 'endpointId'>

type Update = Target & {
  readonly operator: string
  readonly enabled?: boolean | undefined
  readonly eventTypes?: Endpoint['eventTypes'] | undefined
}

/** Enables, disables or resubscribes. Without effect it leaves no record. `redeliver` sends what was missed. */
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

/** Deletes an endpoint and its secret. Deliveries in progress become `skipped`. A repeat answers the same. */
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

const write = async (deps: RecordDeps, record: Parameters<typeof recordChange>[1], steps: Steps<string>) => {
  const { applied } = await recordChange(deps, record, steps)
  if (applied) return
  throw new GatewayError('conflict', 'another operator changed the endpoint at the same time', {
    actionHint: 'Look at it with list-endpoints and try again.',
  })
}
