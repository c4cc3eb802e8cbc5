import { test } from 'vitest'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { testDeps } from '../../support/test-deps.ts'

/** The `it` of a client whose books are audited after each test, and of a payment of its that waits to be paid. */
export const paymentTest = test
  .extend('deps', () => testDeps())
  .extend('client', async ({ deps }, { onCleanup }) => {
    const client = await aStoredClient(deps)
    onCleanup(() => expectBalanced(deps, client.clientId))
    return client
  })
  .extend('payment', ({ deps, client }) => aPendingPayment(deps, client))
