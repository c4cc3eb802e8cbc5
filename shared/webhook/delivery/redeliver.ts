import type { Deps } from '../../deps.ts'
import { invalid, notFound } from '../../errors.ts'
import type { ClientId, DeliveryId, EndpointId } from '../../ids.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import { type Endpoint, laneOf } from '../endpoint/endpoint.ts'
import { findEndpointEver } from '../endpoint/find-endpoints.ts'
import { beginRound, type RoundDeps, refusedRound } from './begin-round.ts'
import { findDelivery } from './delivery-store.ts'
import type { InLane } from './send-delivery-message.ts'
import { endpointDisabled } from './send-test-event.ts'

export type RedeliverDeps = RoundDeps & Pick<Deps, 'newId' | 'invocation'>

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
  if (await redeliverFinished(deps, { delivery, lane: laneOf(endpoint) }, operator)) return
  throw invalid(
    'the delivery is in progress',
    undefined,
    'Wait for its remaining attempts; list-deliveries shows them.',
  )
}

/** Throws 404 for an endpoint the client never had, and 422 for one that is disabled or deleted. */
export const requireEnabledEndpoint = async (
  deps: Pick<Deps, 'table'>,
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

/** A new round with its audit record. False when the delivery is in progress or has no round left today. */
const redeliverFinished = async (deps: RedeliverDeps, inLane: InLane, operator: string): Promise<boolean> => {
  const { deliveryId: subject, clientId, status } = inLane.delivery
  const change = { action: 'redeliver', before: { status }, after: { status: 'scheduled' } }
  const record = { subject, clientId, operator, ...change }
  return (await beginRound(deps, inLane, (steps) => recordChange(deps, record, steps))) !== undefined
}
