import { test } from 'vitest'
import { testDeps } from './test-deps.ts'
import { storedDelivery, storedEndpoint } from './webhook-builders.ts'

/** The `it` of one endpoint of a merchant, and of one delivery to it that is due now. */
export const webhookTest = test
  .extend('deps', () => testDeps())
  .extend('endpoint', ({ deps }) => storedEndpoint(deps))
  .extend('delivery', ({ deps, endpoint }) => storedDelivery(deps, endpoint))
