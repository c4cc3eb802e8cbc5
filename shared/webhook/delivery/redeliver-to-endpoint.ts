import type { ClientId, EndpointId } from '../../ids.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import { type RedeliverDeps, requireEnabledEndpoint } from './redeliver.ts'
import type { Redelivered, SinceRequest } from './redeliver-dto.ts'
import { redeliverSince } from './redeliver-since.ts'

export type EndpointRedelivery = SinceRequest & {
  readonly clientId: ClientId
  readonly endpointId: EndpointId
  readonly operator: string
}

/**
 * Sends an endpoint what it missed, for an operator, each round with its audit record. Throws 404 and 422 as for one
 * delivery.
 */
export const redeliverToEndpoint = async (
  deps: RedeliverDeps,
  { clientId, endpointId, operator, ...asked }: EndpointRedelivery,
): Promise<Redelivered> => {
  const endpoint = await requireEnabledEndpoint(deps, clientId, endpointId)
  return redeliverSince(deps, endpoint, asked, ({ deliveryId: subject }, steps, status) => {
    const before = status && { status }
    const record = { subject, clientId, operator, action: 'redeliver', before, after: { status: 'scheduled' } }
    return recordChange(deps, record, steps)
  })
}
