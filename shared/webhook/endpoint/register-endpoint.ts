import * as v from 'valibot'
import { findClient } from '../../client/client-store.ts'
import type { Deps } from '../../deps.ts'
import { assertInvariant, invalid, notFound } from '../../errors.ts'
import { type ClientId, EndpointIdSchema } from '../../ids.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import type { Endpoint } from './endpoint.ts'
import { toEndpointDto } from './endpoint-dto.ts'
import { insertEndpoint } from './endpoint-store.ts'
import { liveEndpoints, MOST_ENDPOINTS } from './find-endpoints.ts'
import { assertSafeUrl, urlRulesOf } from './safe-url.ts'

type RegisterDeps = Pick<
  Deps,
  'table' | 'stage' | 'sealer' | 'resolveHost' | 'randomBytes' | 'now' | 'newId' | 'invocation'
>

const SECRET_BYTES = 32

type Registration = {
  readonly clientId: ClientId
  readonly operator: string
  readonly url: string
  readonly eventTypes: Endpoint['eventTypes']
}

/**
 * Registers an endpoint, enabled, and answers its signing secret this one time (spec 2.4). The row keeps the secret
 * sealed. One transaction writes the row and its record, so a crash before it leaves nothing. After a later crash
 * the secret is lost: delete the endpoint. A repeat makes a second endpoint, as a rotation needs (spec 6.4).
 */
export const registerEndpoint = async (
  deps: RegisterDeps,
  { clientId, operator, url, eventTypes }: Registration,
): Promise<{ readonly endpoint: Endpoint; readonly signingSecret: string }> => {
  if (!(await findClient(deps, clientId))) throw notFound('client')
  await assertSafeUrl(url, urlRulesOf(deps.stage), deps.resolveHost)
  await assertRoomForOneMore(deps, clientId)
  const endpointId = v.parse(EndpointIdSchema, deps.newId())
  const endpoint: Endpoint = {
    endpointId,
    clientId,
    url,
    eventTypes,
    enabled: true,
    createdAt: deps.now(),
  }
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
