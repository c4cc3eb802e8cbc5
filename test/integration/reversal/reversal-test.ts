import { test } from 'vitest'
import { paidTwo, settledTwo } from '../../support/dispute-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { testDeps } from '../../support/test-deps.ts'

/**
 * The `it` of a client with two payments, 95,900 and 45,950 net, a minute apart: `paid`, or swept into one settlement a
 * day later: `settled`. Behind each test the full audit of the client's books must find nothing.
 */
export const reversalTest = test
  .extend('deps', () => testDeps())
  .extend('paid', async ({ deps }, { onCleanup }) => {
    const paid = await paidTwo(deps)
    onCleanup(() => expectBalanced(deps, paid.client.clientId))
    return paid
  })
  .extend('settled', async ({ deps }, { onCleanup }) => {
    const settled = await settledTwo(deps)
    onCleanup(() => expectBalanced(deps, settled.client.clientId))
    return settled
  })
