import { describe, expect, it, vi } from 'vitest'
import { handler as receiveCallback } from '../../../functions/callback/receive-provider-callback.ts'
import type { Deps } from '../../../shared/deps.ts'
import { ENV, readConfig } from '../../../shared/runtime/config.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import {
  API,
  type ApiRequest,
  anApiClient,
  aPaymentBody,
  call,
  type Endpoint,
  UNKNOWN_PATH,
} from '../../support/api-event.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const CURRENT = 'current-origin-secret-'.padEnd(64, 'c')
const PREVIOUS = 'previous-origin-secret-'.padEnd(64, 'p')

const CALLBACK: Endpoint = { route: 'POST /callbacks/xendit', handler: receiveCallback }
const ENDPOINTS: readonly Endpoint[] = [...Object.values(API), CALLBACK, UNKNOWN_PATH]

const REFUSAL = { message: 'requests must go to the public address of this API', code: 'forbidden' }

/** A stage behind a front, with the origin secret as an operator or Secrets Manager wrote it. */
const behindFront = (secret: string | undefined = JSON.stringify({ current: CURRENT })): TestDeps => {
  const deps = testDeps({ stage: { ...testDeps().stage, behindFront: true } })
  deps.secretValues.set(originSecretName('test'), secret)
  return deps
}

/** The same dependencies, but every use of the table is an error. */
const withoutTable = (deps: TestDeps) => {
  const send = vi.fn(() => {
    throw new Error('the table was touched')
  })
  return { deps: interceptTable(deps, { before: send }), send }
}

const from = (origin: string, request: ApiRequest = {}): ApiRequest => ({
  ...request,
  headers: { 'x-gateway-origin': origin, ...request.headers },
})

describe('origin guard of a stage behind a front', () => {
  it.each(ENDPOINTS)(
    'refuses $route that came in past the front, before anything is read or written',
    async (endpoint) => {
      const { deps, send } = withoutTable(behindFront())

      const answer = await call(deps, endpoint, {
        headers: { authorization: 'Bearer sk_test_x' },
        body: aPaymentBody(),
      })

      expect(answer).toMatchObject({ status: 403, body: REFUSAL })
      expect(send).not.toHaveBeenCalled()
      expect(deps.lines).toStrictEqual([
        {
          level: 'info',
          code: 'request.completed',
          fields: expect.objectContaining({ status: 403, code: 'forbidden' }),
        },
      ])
    },
  )

  it.each([
    '',
    ' ',
    'undefined',
    'null',
    '{}',
    CURRENT.slice(0, -1),
    `${CURRENT}x`,
    CURRENT.toUpperCase(),
    ` ${CURRENT}`,
    `${CURRENT},${CURRENT}`,
    `${CURRENT}, other`,
    JSON.stringify({ current: CURRENT }),
    `${CURRENT}\u0000`,
    '\u0000',
    'ü'.repeat(32),
    'x'.repeat(100_000),
    PREVIOUS,
    '__proto__',
  ])('refuses the header %j', async (value) => {
    const answer = await call(behindFront(), API.getBalance, from(value))

    expect(answer).toMatchObject({ status: 403, body: REFUSAL })
    expect(answer.text).not.toContain(CURRENT)
  })

  it('answers what came through the front as if there were none', async () => {
    const deps = behindFront()
    const client = await anApiClient(deps)

    const answer = await call(deps, API.getBalance, from(CURRENT, { caller: client }))
    const unauthenticated = await call(deps, API.getBalance, from(CURRENT))
    const unknown = await call(deps, UNKNOWN_PATH, from(CURRENT))

    expect([answer.status, unauthenticated.status, unknown.status]).toStrictEqual([200, 401, 404])
  })

  it('accepts both values while one is being exchanged for the other, and the old one no longer after it', async () => {
    const deps = behindFront(JSON.stringify({ current: CURRENT, previous: PREVIOUS }))
    const during = await Promise.all([CURRENT, PREVIOUS].map((value) => call(deps, UNKNOWN_PATH, from(value))))
    deps.secretValues.set(originSecretName('test'), JSON.stringify({ current: CURRENT }))
    const after = await Promise.all([CURRENT, PREVIOUS].map((value) => call(deps, UNKNOWN_PATH, from(value))))

    expect(during.map(({ status }) => status)).toStrictEqual([404, 404])
    expect(after.map(({ status }) => status)).toStrictEqual([404, 403])
  })

  it.each([
    '',
    CURRENT,
    '{}',
    'null',
    '[]',
    '{"current":""}',
    '{"current":"short"}',
    '{"current":null}',
    `{"current":["${CURRENT}"]}`,
    `{"current":"${CURRENT}","previous":""}`,
    `{"current":"${CURRENT}","previous":"${'p'.repeat(31)}"}`,
    `{"current":"${CURRENT} "}`,
    `{"current":"${CURRENT}","next":"${PREVIOUS}"}`,
  ])('lets nobody in while the secret is %j, and quotes none of it', async (secret) => {
    const deps = behindFront(secret)

    const answers = await Promise.all(
      ['', 'short', CURRENT, PREVIOUS].map((value) => call(deps, UNKNOWN_PATH, from(value))),
    )

    expect(answers.map(({ status }) => status)).toStrictEqual([500, 500, 500, 500])
    expect(JSON.stringify([answers, deps.lines])).not.toMatch(/origin-secret-|short/)
  })

  it('lets nobody in while the secret is missing or cannot be read', async () => {
    const missing = behindFront()
    missing.secretValues.clear()
    const unreadable: Deps = {
      ...behindFront(),
      secrets: { ...missing.secrets, get: async () => Promise.reject(new Error('AccessDenied')) },
    }

    expect((await call(missing, UNKNOWN_PATH, from(CURRENT))).status).toBe(500)
    expect((await call(unreadable, UNKNOWN_PATH, from(CURRENT))).status).toBe(500)
  })
})

describe('origin guard of a stage without a front', () => {
  it('asks for no secret and minds no header', async () => {
    const get = vi.fn<Deps['secrets']['get']>()
    const deps = { ...testDeps(), secrets: { ...testDeps().secrets, get } }

    const answers = [await call(deps, UNKNOWN_PATH), await call(deps, UNKNOWN_PATH, from('anything'))]

    expect(answers.map(({ status }) => status)).toStrictEqual([404, 404])
    expect(get).not.toHaveBeenCalled()
  })
})

describe('the environment of a deployed function', () => {
  const environment = { [ENV.stage]: 'prod', [ENV.table]: 'gateway-prod' }

  it('says whether the stage is behind a front', () => {
    expect(readConfig(environment).stage.behindFront).toBe(false)
    expect(readConfig({ ...environment, [ENV.front]: 'none' }).stage.behindFront).toBe(false)
    expect(readConfig({ ...environment, [ENV.front]: 'cloudfront' }).stage.behindFront).toBe(true)
  })

  it('says whether the stage has a domain', () => {
    expect(readConfig(environment).stage.hasDomain).toBe(false)
    expect(readConfig({ ...environment, [ENV.domain]: 'api.pay.example' }).stage.hasDomain).toBe(true)
  })

  it('says how the provider takes its fees, deducted where nothing is said', () => {
    expect(readConfig(environment).stage.providerFees).toBe('deducted')
    expect(readConfig({ ...environment, [ENV.providerFees]: 'invoiced' }).stage.providerFees).toBe('invoiced')
    expect(() => readConfig({ ...environment, [ENV.providerFees]: 'Invoiced' })).toThrow()
  })

  it.each(['', 'CloudFront', 'cloudfront ', 'true', 'off'])(
    'stops the function at %j instead of opening it',
    (value) => {
      expect(() => readConfig({ ...environment, [ENV.front]: value })).toThrow()
    },
  )
})
