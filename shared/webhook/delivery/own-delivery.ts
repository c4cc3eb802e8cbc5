import type { TableDeps } from '../../deps.ts'
import { invalid, notFound } from '../../errors.ts'
import type { ClientId } from '../../ids.ts'
import { laneOf } from '../endpoint/endpoint.ts'
import { parseEndpointId } from '../endpoint/endpoint-dto.ts'
import { findEndpoint, requireEndpoint } from '../endpoint/endpoint-store.ts'
import { parseDeliveryId } from './delivery-dto.ts'
import { attemptsOf, findDelivery } from './delivery-store.ts'
import type { ShownDelivery } from './list-deliveries.ts'
import { redeliverSince } from './redeliver.ts'
import { parseRedeliverBody, type Redelivered } from './redeliver-dto.ts'
import { beginRound, type RoundDeps, refusedRound } from './round-store.ts'

/**
 * A client's own delivery (design section 8). An absent id, another client's and a malformed one throw the same 404.
 */
export const findOwnDelivery = async (deps: TableDeps, clientId: ClientId, id: string): Promise<ShownDelivery> => {
  const delivery = await findDelivery(deps, parseDeliveryId(id))
  if (delivery?.clientId !== clientId) throw notFound('delivery')
  return { delivery, attempts: await attemptsOf(deps, delivery) }
}

/**
 * Sends one of a merchant's deliveries again; however many callers ask, one round begins. Throws 404. Throws 422 during
 * a round, when its endpoint would not get it, and after ten rounds on one UTC day.
 */
export const redeliverOwn = async (deps: RoundDeps, clientId: ClientId, id: string): Promise<ShownDelivery> => {
  const { delivery, attempts } = await findOwnDelivery(deps, clientId, id)
  const endpoint = await findEndpoint(deps, clientId, delivery.endpointId)
  // A deleted endpoint is not found.
  if (!endpoint?.enabled) throw disabled()
  const refused = refusedRound(delivery, deps.now())
  if (refused) throw refused
  const begun = await beginRound(deps, { delivery, lane: laneOf(endpoint) }, (_, steps) => deps.table.transact(steps))
  if (begun === undefined) throw invalid('the delivery is in progress', undefined, 'Wait for its remaining attempts.')
  deps.log.info('delivery.redelivered', { delivery_id: delivery.deliveryId, client_id: clientId })
  return { delivery: begun, attempts }
}

const disabled = () => invalid('the endpoint is disabled', undefined, 'What it missed is in GET /v1/events.')

/** Sends an endpoint of a merchant what it did not get since a time, page by page. Throws 404 and 422. */
export const redeliverOwnSince = async (
  deps: RoundDeps,
  { clientId, id, rawBody }: { readonly clientId: ClientId; readonly id: string; readonly rawBody: Buffer },
): Promise<Redelivered> => {
  const endpoint = await requireEndpoint(deps, { clientId, endpointId: parseEndpointId(id) })
  const asked = parseRedeliverBody(rawBody)
  if (!endpoint.enabled) throw disabled()
  const redelivered = await redeliverSince(deps, endpoint, asked, (_, steps) => deps.table.transact(steps))
  const { endpointId } = endpoint
  deps.log.info('delivery.redelivered', { endpoint_id: endpointId, client_id: clientId, deliveries: redelivered.count })
  return redelivered
}
