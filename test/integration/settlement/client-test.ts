import { test } from 'vitest'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { fail, recredit, settledAmount, withoutFloor } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

/**
 * The `it` for tests of one client without a settlement floor. `settlement`: one payment of 95,900
 * net, settled a day later. `recredited`: the same settlement after it failed and was re-credited.
 * After each test the full audit of the client's books must find nothing.
 */
export const clientTest = test
  .extend('deps', () => testDeps())
  .extend('client', async ({ deps }, { onCleanup }) => {
    const client = await withoutFloor(deps)
    onCleanup(() => expectBalanced(deps, client))
    return client
  })
  .extend('settlement', async ({ deps, client }) => {
    return settledAmount(deps, client)
  })
  .extend('recredited', async ({ deps, settlement }) => {
    return recredit(deps, await fail(deps, settlement))
  })
