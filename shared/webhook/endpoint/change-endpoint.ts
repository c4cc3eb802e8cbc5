import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { requireClient } from '../../client/client-store.ts'
import type { Deps } from '../../deps.ts'
import { assertInvariant, conflict, refused } from '../../errors.ts'
import { EndpointIdSchema, type EndpointIds } from '../../ids.ts'
import { type AlertDeps, alertChange, quote } from '../../operator/alert-change.ts'
import { type RecordDeps, recordChange } from '../../operator/audit-record-store.ts'
import type { Steps } from '../../table/table.ts'
import type { Endpoint } from './endpoint.ts'
import { toEndpointDto } from './endpoint-dto.ts'
import {
  changeEndpoint,
  countEndpoint,
  insertEndpoint,
  MAX_ENDPOINTS,
  markDeleted,
  requireEndpoint,
  requireEndpointEver,
} from './endpoint-store.ts'
import { requireSafeUrl } from './safe-url.ts'

/**
 * Registers an endpoint, enabled, and answers its signing secret this one time (spec 2.4). A crash
 * leaves nothing, or an endpoint whose secret is lost: delete it. A repeat makes a second endpoint,
 * as a rotation needs (spec 6.4).
 */
export async function registerEndpoint(
  deps: RecordDeps & AlertDeps & Pick<Deps, 'stage' | 'sealer' | 'resolveHost' | 'randomBytes'>,
  {
    clientId,
    operator,
    url: typedUrl,
    eventTypes,
  }: Pick<Endpoint, 'clientId' | 'url' | 'eventTypes'> & { operator: string },
): Promise<{ readonly endpoint: Endpoint; readonly signingSecret: string }> {
  await requireClient(deps, clientId)
  const url = await requireSafeUrl(typedUrl, deps.stage, deps.resolveHost)
  const endpointId = v.parse(EndpointIdSchema, deps.newId())
  const endpoint: Endpoint = {
    endpointId,
    clientId,
    url,
    eventTypes,
    enabled: true,
    createdAt: deps.now(),
  }
  await alertListener(deps, endpoint, operator)
  // Standard base64: most libraries that verify Standard Webhooks refuse the other alphabet.
  const signingSecret = `whsec_${deps.randomBytes(32).toString('base64')}`
  const sealedSecret = await deps.sealer.seal(signingSecret, endpoint)
  const after = toEndpointDto(endpoint)
  const record = { subject: clientId, clientId, operator, action: 'register-endpoint', after }
  const steps = {
    client: countEndpoint(clientId, 1),
    endpoint: insertEndpoint({ ...endpoint, sealedSecret }),
  }
  const outcome = await recordChange(deps, record, steps)
  if (!outcome.applied) {
    assertInvariant(outcome.refusedBy === 'client', 'a new endpoint has the id of another one')
    throw refused(`a client has at most ${MAX_ENDPOINTS} endpoints`, 'Delete one that is not used.')
  }
  return { endpoint, signingSecret }
}

/** An endpoint that hears of payments, or of other events than before. */
function alertListener(
  deps: AlertDeps,
  { clientId, endpointId, url, eventTypes }: Endpoint,
  operator: string,
) {
  return alertChange(deps, {
    kind: 'client.access_changed',
    clientId,
    does: `sends events to the webhook endpoint ${endpointId}`,
    typed: `${quote(url)} for ${eventTypes.join(', ')}`,
    operator,
  })
}

type Target = EndpointIds & { readonly operator: string }

/**
 * Enables, disables or resubscribes an endpoint. Without effect there is no record. `redeliver`
 * sends missed events.
 */
export async function updateEndpoint(
  deps: RecordDeps & AlertDeps,
  {
    operator,
    enabled,
    eventTypes,
    ...target
  }: Target & Partial<Pick<Endpoint, 'enabled' | 'eventTypes'>>,
): Promise<Endpoint> {
  const before = await requireEndpoint(deps, target)
  const changes = {
    enabled: enabled ?? before.enabled,
    eventTypes: eventTypes ?? before.eventTypes,
  }
  const after = { ...before, ...changes }
  if (isDeepStrictEqual(after, before)) return before
  const { clientId } = target
  if (after.enabled) await alertListener(deps, after, operator)
  const dtos = { before: toEndpointDto(before), after: toEndpointDto(after) }
  const record = { subject: clientId, clientId, operator, action: 'update-endpoint', ...dtos }
  await writeWithRecord(deps, record, { endpoint: changeEndpoint(before, changes) })
  return after
}

async function writeWithRecord(
  deps: RecordDeps,
  record: Parameters<typeof recordChange>[1],
  steps: Steps<string>,
) {
  const { applied } = await recordChange(deps, record, steps)
  if (applied) return
  throw conflict(
    'another operator changed the endpoint at the same time',
    'Check it with list-endpoints and try again.',
  )
}

/**
 * Deletes an endpoint and its secret. Deliveries in progress become `skipped`. A repeat answers the
 * same.
 */
export async function deleteEndpoint(
  deps: RecordDeps,
  { operator, ...target }: Target,
): Promise<Endpoint> {
  const { clientId } = target
  const before = await requireEndpointEver(deps, target)
  if (before.deletedAt !== undefined) return before
  const deletedAt = deps.now()
  const after = { ...before, enabled: false, deletedAt }
  const record = {
    subject: clientId,
    clientId,
    operator,
    action: 'delete-endpoint',
    before: toEndpointDto(before),
    after: { ...toEndpointDto(after), deleted_at: deletedAt },
  }
  await writeWithRecord(deps, record, markDeleted(before, deletedAt))
  return after
}
