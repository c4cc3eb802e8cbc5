import { existsSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { claimForProvider, openDataDirectory } from '../../../infra/local/process/data-directory.ts'
import { answerCustomer } from '../../../infra/local/test-provider/answer-customer.ts'
import { testEnvironment } from '../../../infra/local/test-provider/test-environment.ts'
import { makePendingDue } from '../../../infra/local/test-provider/watch-pending.ts'
import { findPayment } from '../../../shared/payment/payment-store.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { json, type Script, startScriptedServer } from '../../support/scripted-server.ts'
import { tempDirectory } from '../../support/temp-directory.ts'
import { testDeps } from '../../support/test-deps.ts'

const KEY = 'xnd_development_abc'

describe('the settings of the provider’s test mode', () => {
  it('are the real test mode without callbacks, if only a key is set', () => {
    const settings = testEnvironment({ XENDIT_SECRET_KEY: KEY })

    expect(settings).toMatchObject({ url: 'https://api.xendit.co', secretKey: KEY })
    expect(settings.callbackUrl).toBeUndefined()
    // Nobody knows this token.
    expect(settings.callbackToken).not.toBe(
      testEnvironment({ XENDIT_SECRET_KEY: KEY }).callbackToken,
    )
  })

  it.for([
    [{ XENDIT_SECRET_KEY: '' }, 'set XENDIT_SECRET_KEY'],
    [{ XENDIT_SECRET_KEY: 'xnd_production_abc' }, 'is no development key'],
    [{ XENDIT_SECRET_KEY: `${KEY}\nx` }, 'is no development key'],
    [{ XENDIT_API_URL: 'http://api.xendit.co' }, 'XENDIT_API_URL must be'],
    [{ XENDIT_API_URL: 'https://u:p@h' }, 'XENDIT_API_URL must be'],
    [{ XENDIT_CALLBACK_URL: 'https://h' }, 'needs XENDIT_CALLBACK_TOKEN'],
    [
      { XENDIT_CALLBACK_URL: 'https://h', XENDIT_CALLBACK_TOKEN: 'short' },
      'at least 16 characters',
    ],
    [{ XENDIT_CALLBACK_URL: 'shop' }, 'XENDIT_CALLBACK_URL must be'],
  ] as const)('are refused: %j', ([env, reason]) => {
    expect(() => testEnvironment({ XENDIT_SECRET_KEY: KEY, ...env })).toThrow(reason)
  })

  it('limit calls as the provider’s answers say, by the strictest endpoint', async () => {
    const limits = ['90', '30', '40']
    const limited: Script = (response) => {
      const limit = limits.shift() ?? ''
      const left = { 'rate-limit-remaining': '9', 'rate-limit-reset': '60' }
      response.writeHead(200, { ...left, 'rate-limit-limit': limit }).end('{}')
    }
    const { url } = await startScriptedServer(limited)
    const { call, callsPerMinute } = testEnvironment({ XENDIT_SECRET_KEY: KEY })
    const ask = (path: string) =>
      call({ method: 'GET', url: new URL(path, url), headers: {}, timeoutMs: 10_000 })

    const seen = [callsPerMinute()]
    for (const path of ['/transactions', '/v3/payments/py-1', '/v3/payments/py-2']) {
      await ask(path)
      seen.push(callsPerMinute())
    }

    expect(seen).toStrictEqual([60, 90, 30, 40])
  })
})

describe('without callbacks', () => {
  it('the newest pending payments of each merchant become due, and due work is started', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const pending = []
    for (let count = 0; count < 11; count++) pending.push(await aPendingPayment(deps, client))
    const invoked: string[] = []
    const host = {
      byName: (name: string) => ({
        invoke: async () => {
          invoked.push(name)
          return { status: 200, body: { data: [{ client_id: client.clientId }] } }
        },
      }),
    }
    deps.clock.advance(1_000)
    const now = deps.now()

    await makePendingDue({ host: host as never, reader: deps, writer: deps })

    const found = await Promise.all(
      pending.map(({ paymentId }) => findPayment(deps, client.clientId, paymentId)),
    )
    expect(found.filter(({ dueAt }) => dueAt === now)).toHaveLength(10)
    expect(invoked).toStrictEqual(['gateway-local-list-clients', 'gateway-local-check-due-work'])
  })
})

describe('the customer of PORT+2', () => {
  const host = { byName: () => ({ invoke: async () => ({ status: 404, body: {} }) }) } as never
  const request = (method: string, path: string) =>
    ({ method, path, query: new URLSearchParams({ reference_id: 'p' }) }) as never
  const SIMULATE = '/v3/payment_requests/pr-1/simulate'
  const customer = (url: string) =>
    answerCustomer(
      { ...testEnvironment({ XENDIT_SECRET_KEY: KEY }), url },
      Promise.resolve({ host }),
    )

  it('finds no request of an unknown payment, and has no controls', async () => {
    const answer = customer('http://127.0.0.1:1')

    const found = await answer(request('GET', '/_simulator/payment_requests'))
    const control = await answer(request('POST', '/_simulator/faults'))

    expect([found.status, found.body]).toStrictEqual([200, '[]\n'])
    expect(control.status).toBe(404)
    expect(control.body).toContain('no controls')
  })

  it('pays the amount of the request with the developer’s key', async () => {
    const { url, requests } = await startScriptedServer(json(200, { request_amount: 15_000 }))

    const paid = await customer(url)(request('POST', SIMULATE))

    expect(paid.status).toBe(200)
    expect(requests.map(({ method, url: path, body }) => [method, path, body])).toStrictEqual([
      ['GET', '/v3/payment_requests/pr-1', ''],
      ['POST', SIMULATE, '{"amount":15000}'],
    ])
    expect(requests[1]?.headers.authorization).toBe(`Basic ${btoa(`${KEY}:`)}`)
  })

  it('passes on a refusal of the provider, and says if it does not answer', async () => {
    const refusal = { error_code: 'DATA_NOT_FOUND', message: 'not found' }
    const { url } = await startScriptedServer(json(404, refusal))

    const refused = await customer(url)(request('POST', SIMULATE))
    const silent = await customer('http://127.0.0.1:1')(request('POST', SIMULATE))

    expect([refused.status, JSON.parse(String(refused.body))]).toStrictEqual([404, refusal])
    expect(silent.status).toBe(502)
    expect(silent.body).toContain('did not answer: ECONNREFUSED')
  })
})

describe('a data directory', () => {
  it('of the simulator is refused for the test mode, and the other way round', async () => {
    const atSimulator = await openDataDirectory(tempDirectory())
    const inTestMode = await openDataDirectory(tempDirectory())
    writeFileSync(atSimulator.simulator, '')
    claimForProvider(inTestMode, true)

    expect(() => claimForProvider(atSimulator, true)).toThrow(
      "payments of the provider's simulator",
    )
    expect(() => claimForProvider(inTestMode, false)).toThrow(
      "payments of the provider's test mode",
    )
    expect(() => claimForProvider(atSimulator, false)).not.toThrow()
    expect(() => claimForProvider(inTestMode, true)).not.toThrow()
    expect(existsSync(atSimulator.testProvider)).toBe(false)
  })
})
