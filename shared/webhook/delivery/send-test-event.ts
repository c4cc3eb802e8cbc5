import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { assertInvariant, refused } from '../../errors.ts'
import { envelopeBody, TEST_EVENT_TYPE } from '../../event/event.ts'
import { type EndpointIds, EventIdSchema } from '../../ids.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import { laneOf } from '../endpoint/endpoint.ts'
import { requireEndpoint } from '../endpoint/endpoint-store.ts'
import type { Delivery } from './delivery.ts'
import { insertTestDelivery, newDelivery, sendDeliveryMessages } from './delivery-store.ts'

/**
 * Only this function puts rows with bytes of their own, without payment and event row. Throws 404
 * and 422.
 */
export async function sendTestEvent(
  deps: Pick<Deps, 'table' | 'queues' | 'now' | 'newId' | 'invocation'>,
  { clientId, endpointId, operator }: EndpointIds & { readonly operator: string },
): Promise<Delivery> {
  const endpoint = await requireEndpoint(deps, { clientId, endpointId })
  if (!endpoint.enabled) throw endpointDisabledError()
  const now = deps.now()
  const eventId = v.parse(EventIdSchema, deps.newId())
  const body = envelopeBody(TEST_EVENT_TYPE, eventId, now, {
    client_id: clientId,
    endpoint_id: endpointId,
  })
  const delivery = {
    ...newDelivery({ eventId, name: TEST_EVENT_TYPE, firedAt: now }, endpoint, now),
    body,
    isTest: true,
  } as const
  // Each test has its own subject, so tests of one endpoint do not collide.
  const record = {
    subject: delivery.deliveryId,
    clientId,
    operator,
    action: 'send-test-event',
    after: { endpoint_id: endpointId },
  }
  const { applied } = await recordChange(deps, record, { delivery: insertTestDelivery(delivery) })
  assertInvariant(applied, 'a new test event has the id of another one')
  await sendDeliveryMessages(deps, [{ delivery, lane: laneOf(endpoint) }])
  return delivery
}

export function endpointDisabledError() {
  return refused('the endpoint is disabled', 'Enable it with update-endpoint, then try again.')
}
