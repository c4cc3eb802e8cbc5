import * as v from 'valibot'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { handler as receiveCallback } from '../../../functions/callback/receive-provider-callback.ts'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import {
  API,
  type ApiRequest,
  type ApiResponse,
  anApi,
  anApiClient,
  aPaymentBody,
  call,
  UNKNOWN_PATH,
} from '../../support/api-event.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

type Name = keyof typeof API
const NAMES = Object.keys(API) as Name[]

const INTERNAL = { message: 'internal error; retry, or quote the request id to support', code: 'internal_error' }

const requestTo = (deps: TestDeps, name: Name): ApiRequest => ({
  ...(API[name].route.includes('{id}') && { id: deps.newId() }),
  ...(name === 'createPayment' && { body: aPaymentBody() }),
})

const CALLBACK = { route: 'POST /callbacks/xendit', handler: receiveCallback }

const headersOf = (answer: ApiResponse) => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': answer.requestId,
})

describe('every answer of every endpoint (spec 7; design section 4)', () => {
  it.each(NAMES)('%s carries the request id and JSON, and a 500 tells nothing of the table', async (name) => {
    const deps = testDeps()
    const [caller, limited] = [await anApiClient(deps), await anApiClient(deps, { rateLimitPerSecond: 1 })]
    await call(deps, API.getBalance, { caller: limited })
    const request = requestTo(deps, name)
    const broken = interceptTable(deps, {
      before: ({ name: command }) => {
        if (command !== 'batchGet') throw new Error('ProvisionedThroughputExceeded on gateway-test')
      },
    })

    const answers = [
      await call(deps, API[name], { ...request, caller }),
      await call(deps, API[name], request),
      await call(deps, API[name], { ...request, caller: limited }),
      await call(broken, API[name], { ...request, caller }),
    ]

    const fine = name === 'createPayment' ? 201 : API[name].route.includes('{id}') ? 404 : 200
    expect(answers.map(({ status }) => status)).toStrictEqual([fine, 401, 429, 500])
    for (const answer of answers) expect(answer.headers).toMatchObject(headersOf(answer))
    for (const { body } of answers.filter(({ status }) => status >= 400)) {
      expect(body).toStrictEqual({ message: expect.any(String) as string, code: expect.any(String) as string })
    }
    const [, , refused, failed] = answers
    expect(refused?.body).toStrictEqual({ message: 'the limit of 1 points a second is used up', code: 'rate_limit' })
    expect(refused?.headers).toMatchObject({ 'retry-after': '1' })
    expect(failed?.body).toStrictEqual(INTERNAL)
    const fields = { request_id: failed?.requestId, route: API[name].route, status: 500, code: 'internal_error' }
    expect(deps.lines.filter(({ level }) => level === 'error')).toMatchObject([{ code: 'request.failed', fields }])
  })

  it('answers 404 in the envelope to an unknown path or method, with and without a key', async () => {
    const { deps, caller } = await anApi()

    const answers = [await call(deps, UNKNOWN_PATH, { caller }), await call(deps, UNKNOWN_PATH, { body: 'x' })]

    for (const answer of answers) {
      expect(answer.status).toBe(404)
      expect(answer.body).toStrictEqual({ message: 'resource not found', code: 'not_found' })
      expect(answer.headers).toStrictEqual(headersOf(answer))
    }
  })
})

describe('the headers of every response', () => {
  const HSTS = { 'strict-transport-security': 'max-age=63072000' }

  it.each([
    ['cache-control no-store and x-content-type-options nosniff', testDeps(), {}],
    ['strict-transport-security behind a domain', testDeps({ stage: { ...testDeps().stage, hasDomain: true } }), HSTS],
  ] as const)('carry %s, whatever the outcome, on unknown paths and callbacks too', async (_, own, besides) => {
    const { deps, ask } = await anApi({}, own)

    const answers = [
      await ask('getBalance'),
      await ask('createPayment', { body: aPaymentBody({ amount: 0 }) }),
      await call(deps, API.getBalance),
      await call(deps, UNKNOWN_PATH),
      await call(deps, CALLBACK, { body: '{}' }),
    ]

    expect(answers.map(({ status }) => status)).toStrictEqual([200, 422, 401, 404, 500])
    for (const answer of answers) expect(answer.headers).toStrictEqual({ ...headersOf(answer), ...besides })
  })
})

afterEach(() => void vi.useRealTimers())

describe('an unexpected failure (spec 7: internal_error)', () => {
  it('of an item that is not what it should be is a 500 and not half an answer', async () => {
    const { deps, ask } = await anApi()
    const { body } = await ask('createPayment', { body: aPaymentBody() })
    const paymentId = v.parse(PaymentIdSchema, body['id'])
    await deps.table.write(update(paymentKey(paymentId), { remove: ['notionalMinor'] }))

    const answers = [
      await ask('getPayment', { id: paymentId }),
      await ask('cancelPayment', { id: paymentId }),
      await ask('listPayments'),
    ]

    expect(answers.map((answer) => [answer.status, answer.body])).toStrictEqual(answers.map(() => [500, INTERNAL]))
  })

  it('of a function that runs out of time is our 500, before the platform answers its own', async () => {
    const { deps, ask } = await anApi()
    deps.provider.script('createRequest', () => new Promise(() => {}))

    const answer = await ask('createPayment', { body: aPaymentBody(), remainingMs: 600 })

    expect([answer.status, answer.body]).toStrictEqual([500, INTERNAL])
    expect(answer.headers).toStrictEqual(headersOf(answer))
  })

  it('of a callback that runs out of time is our 500 too, half a second before the platform’s', async () => {
    const deps = testDeps()
    const hanging = { ...deps, secrets: { ...deps.secrets, get: () => new Promise<undefined>(() => {}) } }
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const headers = { 'x-callback-token': 'any' }
    const answered = call(hanging, CALLBACK, { body: '{}', headers, remainingMs: 10_000 })

    await vi.advanceTimersByTimeAsync(9_500)

    const answer = await answered
    expect([answer.status, answer.body]).toStrictEqual([500, INTERNAL])
    expect(answer.headers).toStrictEqual(headersOf(answer))
  })
})

it('the log of a request is one line with ids, client and key, the route as a template, status, code and duration', async () => {
  const { deps, ask } = await anApi()

  const found = await ask('getBalance', { headers: { 'x-amz-cf-id': 'front-1_a==' } })
  const absent = await ask('getPayment', { id: deps.newId(), headers: { 'x-amz-cf-id': 'a line\n' } })

  const whose = { client_id: expect.any(String), key_id: expect.stringMatching(/^[0-9a-f]{64}$/) }
  const lines = [
    {
      request_id: found.requestId,
      front_request_id: 'front-1_a==',
      ...whose,
      route: 'GET /v1/balance',
      status: 200,
      duration_ms: 0,
    },
    {
      request_id: absent.requestId,
      ...whose,
      route: 'GET /v1/payments/{id}',
      status: 404,
      duration_ms: 0,
      code: 'not_found',
    },
  ]
  expect(deps.lines).toStrictEqual(lines.map((fields) => ({ level: 'info', code: 'request.completed', fields })))
})
