import type { Client } from '../../shared/client/client.ts'
import { aRequest, create } from './payment-builders.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

/**
 * A payment whose first attempt reached the provider and was never heard of: a second one made the request that is
 * shown. `upstream` is the provider that knows both, the unheard one first.
 */
export const anUnheardAttempt = async (deps: TestDeps, client: Client) => {
  const upstream = testDeps().provider
  for (const name of ['getRequest', 'getPayment', 'cancelRequest'] as const) deps.provider.script(name, upstream[name])
  deps.provider.script('createRequest', async (input, timeoutMs) => {
    await upstream.createRequest(input, timeoutMs)
    return { kind: 'unknown', reason: 'timeout' }
  })
  await create(deps, client, aRequest(), 'key-1').catch(() => undefined)
  deps.provider.script('createRequest', upstream.createRequest)
  const { payment } = await create(deps, client, aRequest(), 'key-1')
  return { payment, upstream }
}
