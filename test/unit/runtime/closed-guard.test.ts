import { describe, expect, it } from 'vitest'
import { handler as triggerSettlement } from '../../../functions/admin/trigger-settlement.ts'
import { handler as receiveCallback } from '../../../functions/callback/receive-provider-callback.ts'
import { handler as syncTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import { ENV, readConfig } from '../../../shared/runtime/config.ts'
import { probeEvent } from '../../../shared/runtime/release/prove-versions.ts'
import { API, aPaymentBody, call, type Endpoint, UNKNOWN_PATH } from '../../support/api-event.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin, lambdaContext } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const CALLBACK: Endpoint = { route: 'POST /callbacks/xendit', handler: receiveCallback }

describe('a closed stage', () => {
  it.each([...Object.values(API), CALLBACK, UNKNOWN_PATH])(
    'answers 500 to $route in the envelope, and neither reads nor writes',
    async (endpoint) => {
      const { deps, calls } = recordTable(testDeps({ stage: { ...testDeps().stage, isClosed: true } }))

      const answer = await call(deps, endpoint, {
        headers: { authorization: 'Bearer sk_test_x' },
        body: aPaymentBody(),
      })

      expect(answer).toMatchObject({
        status: 500,
        body: {
          message: 'the gateway is closed for maintenance',
          code: 'internal_error',
          action_hint: 'Send the same request again later, with the same Idempotency-Key.',
        },
      })
      expect(calls).toStrictEqual([])
    },
  )

  it('runs no scheduled work that is started by hand, and settles no client', async () => {
    const deps = memoryDeps({ stage: { ...testDeps().stage, isClosed: true } })
    const { clientId } = await aStoredClient(deps)
    const { deps: watched, calls } = recordTable(deps)
    const run = syncTransactions.withDeps(watched)({}, lambdaContext('sync-provider-transactions'))

    await expect(run).rejects.toThrow('the stage is closed')
    const asked = { operator: 'ana', client_id: clientId }
    expect(await invokeAdmin(triggerSettlement, watched, asked)).toMatchObject({
      status: 422,
      body: { message: 'the stage is closed' },
    })
    expect(calls).toStrictEqual([])
  })

  it('answers the probe of a release as an open one does', async () => {
    const deps = testDeps({ stage: { ...testDeps().stage, isClosed: true } })
    const { handler, route } = API.getBalance
    const probe = probeEvent('test', route) as Parameters<typeof handler>[0]

    expect(await handler.withDeps(deps)(probe, lambdaContext('api-get-balance'))).toMatchObject({ statusCode: 401 })
  })

  it('is closed by its environment, and a misspelt role stops the function', () => {
    const env = { [ENV.stage]: 'prod', [ENV.table]: 'gateway-prod' }

    expect(readConfig({ ...env, [ENV.role]: 'closed' }).stage.isClosed).toBe(true)
    expect(readConfig(env).stage.isClosed).toBe(false)
    expect(() => readConfig({ ...env, [ENV.role]: 'close' })).toThrow('Expected ("open" | "closed")')
  })
})
