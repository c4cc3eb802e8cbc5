import { test } from 'vitest'
import { testDeps } from '../../support/test-deps.ts'
import { storedDelivery, storedEndpoint, storedEvent } from '../../support/webhook-builders.ts'

/**
 * The `it` for tests of an endpoint, an event, and the event's delivery to the endpoint, which is
 * due now.
 */
export const webhookTest = test
  .extend('deps', () => testDeps())
  .extend('endpoint', ({ deps }) => storedEndpoint(deps))
  .extend('event', ({ deps, endpoint }) => storedEvent(deps, { clientId: endpoint.clientId }))
  .extend('delivery', ({ deps, endpoint, event }) => storedDelivery(deps, endpoint, {}, event))
