import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { HTTP_STATUS } from '../../../shared/errors.ts'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import {
  API,
  type ApiRequest,
  type ApiResponse,
  anApi,
  anApiClient,
  aPaymentBody,
  BODIES,
  CALLBACK,
  CLIENT_ROUTES,
  call,
  UNKNOWN_PATH,
} from '../../support/api-event.ts'
import { PROJECT_ROOT, projectText } from '../../support/source-file.ts'
import { changeRow } from '../../support/tampering.ts'
import { interceptTable, recordTable, testDeps } from '../../support/test-deps.ts'

const NAMES = Object.keys(API) as (keyof typeof API)[]

it('the tests know every route that merchants call, and a file of this folder asks each by name', () => {
  const folder = 'test/functions/api'
  const texts = readdirSync(join(PROJECT_ROOT, folder)).map((name) =>
    projectText(`${folder}/${name}`),
  )
  const asks = (name: string) =>
    texts.some((text) => text.includes(`'${name}'`) || text.includes(`API.${name}`))

  expect(
    Object.values(API)
      .map(({ route }) => route)
      .toSorted(),
  ).toStrictEqual(CLIENT_ROUTES.toSorted())
  expect(NAMES.filter((name) => !asks(name))).toStrictEqual([])
})

it('no route lets a merchant register, change or delete an endpoint (spec 2.4), and each begins with the version (spec 9)', () => {
  expect(CLIENT_ROUTES.filter((route) => route.includes('webhook_endpoints'))).toStrictEqual([
    'GET /v1/webhook_endpoints',
    'POST /v1/webhook_endpoints/{id}/redeliver',
  ])
  expect(CLIENT_ROUTES.filter((route) => !/^(?:GET|POST) \/v1\//.test(route))).toStrictEqual([])
})

it('the codes and their statuses are those of the specification (7), without its internal codes', () => {
  expect(HTTP_STATUS).toStrictEqual({
    auth: 401,
    forbidden: 403,
    not_found: 404,
    conflict: 409,
    validation: 422,
    rate_limit: 429,
    network: 502,
    server_error: 502,
    internal_error: 500,
  })
})

const INTERNAL = {
  message: 'internal error; retry, or quote the request id to support',
  code: 'internal_error',
}

/** A request whose every part is wrong, so that a check of any part would show in the answer. */
const hopeless: ApiRequest = {
  id: 'no-id',
  query: { page: 'x', per_page: 'y', status: 'z', currency: 'USD' },
  headers: { 'Idempotency-Key': 'k'.repeat(1_000) },
  body: '{"amount":',
}

function headersOf(answer: ApiResponse) {
  return {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': answer.requestId,
  }
}

/** The key with its client, and the count of the rate limit, whose failure stops no request. */
function readsOnlyTheKey(calls: readonly { readonly name: string }[]) {
  return calls.every(({ name }) => name === 'batchGet' || name === 'update')
}

describe('every endpoint (spec 5, 7; design sections 4 and 8)', () => {
  it.each(NAMES)(
    '%s answers JSON with the request id, and a 500 shows nothing of the table’s error',
    async (name) => {
      const deps = testDeps()
      const [caller, limitedCaller] = [
        await anApiClient(deps),
        await anApiClient(deps, { rateLimitPerSecond: 1 }),
      ]
      await call(deps, API.getBalance, { caller: limitedCaller })
      const hasId = API[name].route.includes('{id}')
      const request = { ...(hasId && { id: deps.newId() }), body: BODIES[name] }
      const { deps: recordedDeps, calls } = recordTable(deps)
      const failingDeps = interceptTable(deps, {
        before: ({ name: command }) => {
          if (command !== 'batchGet' || readsOnlyTheKey(calls))
            throw new Error('ProvisionedThroughputExceeded on gateway-test')
        },
      })

      const success = await call(recordedDeps, API[name], { ...request, caller })
      const refusal = await call(deps, API[name], { ...request, caller: limitedCaller })
      const failure = await call(failingDeps, API[name], { ...request, caller })

      expect(success.status).toBe(name === 'createPayment' ? 201 : hasId ? 404 : 200)
      expect([refusal.status, failure.status]).toStrictEqual([429, 500])
      for (const answer of [success, refusal, failure])
        expect(answer.headers).toMatchObject(headersOf(answer))
      expect(refusal.body).toStrictEqual({
        message: 'the limit of 1 points a second is used up',
        code: 'rate_limit',
      })
      expect(refusal.headers).toMatchObject({ 'retry-after': '1' })
      expect(failure.body).toStrictEqual(INTERNAL)
      const fields = {
        request_id: failure.requestId,
        route: API[name].route,
        status: 500,
        code: 'internal_error',
      }
      expect(deps.lines.filter(({ level }) => level === 'error')).toMatchObject([
        { code: 'request.failed', fields },
      ])
    },
  )
})

const action_hint = 'Send the same request again later, with the same Idempotency-Key.'

it.each([
  [
    { isClosed: true, behindFront: true },
    500,
    { message: 'the gateway is closed for maintenance', code: 'internal_error', action_hint },
  ],
  [
    { behindFront: true },
    403,
    { message: 'requests must go to the public address of this API', code: 'forbidden' },
  ],
])('a stage of %j refuses every request before it reads or writes', async (stage, status, body) => {
  for (const endpoint of [...Object.values(API), CALLBACK, UNKNOWN_PATH]) {
    const { deps, calls } = recordTable(testDeps({ stage: { ...testDeps().stage, ...stage } }))
    deps.secretValues.set(originSecretName('test'), JSON.stringify({ current: 'c'.repeat(64) }))

    const answer = await call(deps, endpoint, {
      ...hopeless,
      caller: { authorization: 'Bearer sk_test_x' },
    })

    expect([endpoint.route, answer.status, answer.body]).toStrictEqual([
      endpoint.route,
      status,
      body,
    ])
    expect([calls, deps.lines.map(({ fields }) => fields)]).toMatchObject([
      [],
      [{ status, code: body.code }],
    ])
  }
})

it('every response has exactly the four headers of the envelope, and strict-transport-security if the stage has a domain', async () => {
  for (const hasDomain of [false, true]) {
    const { deps, ask } = await anApi({}, testDeps({ stage: { ...testDeps().stage, hasDomain } }))
    const domainHeader = hasDomain && { 'strict-transport-security': 'max-age=63072000' }

    const answers = [
      await ask('createPayment', { body: aPaymentBody({ amount: 0 }) }),
      await call(deps, API.getBalance),
      await call(deps, UNKNOWN_PATH),
      await call(deps, CALLBACK, { body: '{}' }),
    ]

    expect(answers.map(({ status }) => status)).toStrictEqual([422, 401, 404, 500])
    expect(answers[2]?.body).toStrictEqual({ message: 'resource not found', code: 'not_found' })
    for (const answer of answers)
      expect(answer.headers).toStrictEqual({ ...headersOf(answer), ...domainHeader })
  }
})

describe('an unexpected failure (spec 7: internal_error)', () => {
  it('is answered by 500 without data for a malformed item', async () => {
    const { deps, ask } = await anApi()
    const { body } = await ask('createPayment', { body: aPaymentBody() })
    const id = v.parse(PaymentIdSchema, body['id'])
    await changeRow(deps, paymentKey(id), { remove: ['notionalMinor'] })

    const answers = [await ask('getPayment', { id }), await ask('cancelPayment', { id })]
    for (const { status, body: refusal } of answers)
      expect([status, refusal]).toStrictEqual([500, INTERNAL])
    expect(await ask('listPayments')).toMatchObject({ status: 200, body: { data: [] } })
  })

  it.each([
    // A client’s request ends half a second earlier, so that it can be charged.
    ['a request', 1_000, API.listSettlements, {}],
    ['a callback', 500, CALLBACK, { body: '{}', headers: { 'x-callback-token': 'any' } }],
  ])(
    'answers %s at the time limit by 500, %d ms before Lambda’s timeout',
    async (_, earlyMs, endpoint, request) => {
      const { deps, caller } = await anApi()
      const hanging = {
        ...deps,
        table: { ...deps.table, query: () => new Promise<never>(() => {}) },
        secrets: { ...deps.secrets, get: () => new Promise<undefined>(() => {}) },
      }
      const beganMs = performance.now()

      const answer = await call(hanging, endpoint, {
        ...request,
        caller,
        remainingMs: earlyMs + 100,
      })

      expect(performance.now() - beganMs).toBeGreaterThan(90)
      expect([answer.status, answer.body]).toStrictEqual([500, INTERNAL])
      expect(answer.headers).toStrictEqual(headersOf(answer))
    },
  )
})
