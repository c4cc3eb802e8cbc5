import { test } from 'vitest'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { creditedPayment, paidUpstream } from '../../support/synced-payment.ts'

/**
 * The `it` of a gateway of its own, whose client's books are audited after each test: `rows` is the provider's list of
 * transactions, `paid` a payment whose callback was lost, `credited` one that was credited with the estimate of its fee.
 */
export const syncTest = test
  .extend('deps', () => memoryDeps())
  .extend('client', async ({ deps }, { onCleanup }) => {
    const client = await aStoredClient(deps)
    onCleanup(() => expectBalanced(deps, client.clientId))
    return client
  })
  .extend('rows', ({ deps }) => deps.provider.transactions)
  .extend('paid', ({ deps, client }) => paidUpstream(deps, client))
  .extend('credited', ({ deps, client }) => creditedPayment(deps, client))
