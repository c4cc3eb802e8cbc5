import { test } from 'vitest'
import { testDeps } from '../../support/test-deps.ts'
import { storedDelivery, storedEndpoint, storedEvent } from '../../support/webhook-builders.ts'

/** The `it` of one endpoint of a merchant, and of one delivery to it that is due now. */
export const webhookTest = test
  .extend('deps', () => testDeps())
  .extend('endpoint', ({ deps }) => storedEndpoint(deps))
  .extend('delivery', ({ deps, endpoint }) => storedDelivery(deps, endpoint))

/** The same with rows as `storedRows: lean` makes them, and with the event whose body is the delivery's. */
export const leanWebhookTest = test
  .extend('deps', () => testDeps({ stage: { storedRows: 'lean' } }))
  .extend('endpoint', ({ deps }) => storedEndpoint(deps))
  .extend('event', ({ deps, endpoint }) => storedEvent(deps, { clientId: endpoint.clientId }))
  .extend('delivery', ({ deps, endpoint, event }) => storedDelivery(deps, endpoint, {}, event))
