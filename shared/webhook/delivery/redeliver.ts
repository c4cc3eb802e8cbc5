import type { Deps, TableDeps } from '../../deps.ts'
import { invalid, notFound } from '../../errors.ts'
import type { ClientId, DeliveryId, EndpointId } from '../../ids.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { findEndpointEver } from '../endpoint/find-endpoints.ts'
import { type RoundDeps, refusedRound } from './begin-round.ts'
import { findDelivery } from './delivery-store.ts'
import type { Redelivered, SinceRequest } from './redeliver-dto.ts'
import { redeliverSince, sendAgain, type WriteRound } from './redeliver-since.ts'
import { endpointDisabled } from './send-test-event.ts'

type RedeliverDeps = RoundDeps & Pick<Deps, 'newId' | 'invocation'>

/**
 * Starts a new round of attempts for one finished delivery: the same row, event id and bytes (design section 4). Throws
 * 404 for another client's delivery, and 422 while one is in progress, when its endpoint would not get it, and after ten
 * rounds on one UTC day.
 */
export const redeliver = async (
  deps: RedeliverDeps,
  { clientId, deliveryId, operator }: { clientId: ClientId; deliveryId: DeliveryId; operator: string },
): Promise<void> => {
  const delivery = await findDelivery(deps, deliveryId)
  if (delivery?.clientId !== clientId) throw notFound('delivery')
  const endpoint = await requireEnabledEndpoint(deps, clientId, delivery.endpointId)
  const refused = refusedRound(delivery, deps.now())
  if (refused) throw refused
  if (await sendAgain(deps, endpoint, delivery, recorded(deps, operator))) return
  throw invalid(
    'the delivery is in progress',
    undefined,
    'Wait for its remaining attempts; list-deliveries shows them.',
  )
}

/** Throws 404 for an endpoint the client never had, and 422 for one that is disabled or deleted. */
const requireEnabledEndpoint = async (
  deps: TableDeps,
  clientId: ClientId,
  endpointId: EndpointId,
): Promise<Endpoint> => {
  const endpoint = await findEndpointEver(deps, clientId, endpointId)
  if (!endpoint) throw notFound('endpoint')
  if (endpoint.deletedAt !== undefined) {
    throw invalid(
      'the endpoint is deleted',
      undefined,
      'Nothing is sent there any more. An enabled endpoint of the client gets it with its own endpoint_id and since.',
    )
  }
  if (!endpoint.enabled) throw endpointDisabled()
  return endpoint
}

/** Writes a round, or a missing delivery, with its audit record. */
const recorded =
  (deps: RedeliverDeps, operator: string): WriteRound =>
  ({ deliveryId: subject, clientId }, steps, status) => {
    const before = status && { status }
    const record = { subject, clientId, operator, action: 'redeliver', before, after: { status: 'scheduled' } }
    return recordChange(deps, record, steps)
  }

type EndpointRedelivery = SinceRequest & {
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
  return redeliverSince(deps, endpoint, asked, recorded(deps, operator))
}
