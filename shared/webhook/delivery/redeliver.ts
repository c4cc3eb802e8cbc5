import type { Deps } from '../../deps.ts'
import { invalid, notFound } from '../../errors.ts'
import { keepEvent } from '../../event/event-store.ts'
import type { ClientId, DeliveryId, EndpointId } from '../../ids.ts'
import { recordChange } from '../../operator/audit-record.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { findEndpoint } from '../endpoint/endpoint-store.ts'
import { laneOf } from '../endpoint/lane.ts'
import { needsAlert, publishDeliveryAlert } from './delivery-alert.ts'
import { findDelivery, startRound } from './delivery-store.ts'
import { type InLane, sendDeliveryMessage } from './send-delivery-message.ts'
import { endpointDisabled } from './send-test-event.ts'

export type RedeliverDeps = Pick<Deps, 'table' | 'queues' | 'alerts' | 'log' | 'now' | 'newId' | 'stage' | 'invocation'>

/**
 * Starts a new round of attempts for one finished delivery: the same row, event id and bytes (design section 4). Throws
 * 404 for another client's delivery, and 422 while one is in progress or when its endpoint would not get it.
 */
export const redeliver = async (
  deps: RedeliverDeps,
  { clientId, deliveryId, operator }: { clientId: ClientId; deliveryId: DeliveryId; operator: string },
): Promise<void> => {
  const delivery = await findDelivery(deps, deliveryId)
  if (delivery?.clientId !== clientId) throw notFound('delivery')
  const endpoint = await requireEnabledEndpoint(deps, clientId, delivery.endpointId)
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
  const endpoint = await findEndpoint(deps, clientId, endpointId)
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

/**
 * False when the delivery is in progress, or another operator has just started a round. An alert that is still owed
 * goes out first: the new round takes the row's place in the due work. A crash before the message leaves the row to
 * due work, which sends it within minutes.
 */
export const redeliverFinished = async (
  deps: RedeliverDeps,
  { delivery, lane }: InLane,
  operator: string,
): Promise<boolean> => {
  if (delivery.status === 'scheduled') return false
  if (needsAlert(delivery)) await publishDeliveryAlert(deps, delivery)
  const { paymentId, body, eventType } = delivery
  const record = {
    subject: delivery.deliveryId,
    clientId: delivery.clientId,
    operator,
    action: 'redeliver',
    before: { status: delivery.status },
    after: { status: 'scheduled' },
  }
  const outcome = await recordChange(deps, record, {
    delivery: startRound(delivery, deps.now()),
    event: paymentId && body === undefined ? keepEvent({ paymentId, eventType }, deps.now()) : undefined,
  })
  if (!outcome.applied && outcome.refusedBy === 'event') throw invalid('the event is no longer kept')
  if (outcome.applied) await sendDeliveryMessage(deps, delivery, lane, 0)
  return outcome.applied
}
