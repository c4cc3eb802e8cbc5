import { describe, expect, it, vi } from 'vitest'
import { DEFAULTS, type FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { hostFunctions } from '../../../infra/local/functions/function-host.ts'
import {
  type LocalRequest,
  startLocalHttpServer,
} from '../../../infra/local/process/local-http-server.ts'
import { httpEvent } from '../../../infra/local/triggers/http-event.ts'
import { functionRoutes } from '../../../infra/local/triggers/start-http-gateway.ts'
import { answerInvocation } from '../../../infra/local/triggers/start-lambda-server.ts'
import { eventually } from '../../support/eventually.ts'
import { testDeps } from '../../support/test-deps.ts'

const REQUEST = {
  search: '',
  query: new URLSearchParams(),
  headers: {},
  rawHeaders: [],
  remoteAddress: '127.0.0.1',
  body: Buffer.alloc(0),
}

const NAME = 'gateway-local-echo'

const ECHO = { name: 'echo', entry: 'functions/admin/echo.ts', table: {} }
const SPEC: FunctionSpec = { ...DEFAULTS, ...ECHO, trigger: { kind: 'operator', duty: 'support' } }

function aHost(run: (event: unknown) => Promise<unknown>, changes: Partial<FunctionSpec> = {}) {
  const deps = testDeps()
  const options = { stage: 'local', depsFor: () => deps, log: deps.log }
  const host = hostFunctions([{ spec: { ...SPEC, ...changes }, withDeps: () => run }], options)
  const invoke = async (event: unknown, age?: { maxAgeMs: number }) =>
    host.byName(NAME)?.invoke(event, age)
  return { host, invoke, codes: () => deps.lines.map(({ code }) => code) }
}

it('a function with reserved concurrency 1 drops an invocation that has waited longer than its greatest age', async () => {
  const ends: (() => void)[] = []
  const { invoke } = aHost((event) => new Promise((resolve) => ends.push(() => resolve(event))), {
    reservedConcurrency: 1,
  })
  const first = invoke(1)
  await eventually(() => expect(ends).toHaveLength(1))

  const late = invoke(2, { maxAgeMs: -1 })
  ends[0]?.()

  expect(await Promise.all([first, late])).toStrictEqual([1, undefined])
  expect(ends).toHaveLength(1)
})

type CallOptions = Partial<Record<'name' | 'type' | 'duty', string>> & {
  spec?: Partial<FunctionSpec>
}

const SWEPT = {
  trigger: { kind: 'schedule', schedule: { everyMinutes: 1, maxEventAgeSeconds: 1 } },
} as const

describe('the Lambda Invoke API (design section 6)', () => {
  const headers = { 'x-amz-executed-version': '$LATEST' }
  const broken = {
    status: 200,
    headers: { ...headers, 'x-amz-function-error': 'Unhandled' },
    body: '{"errorType":"TypeError","errorMessage":"broken"}\n',
    logged: ['invocation.failed'],
  }
  const refused = (status: number, type: string) => ({
    status,
    headers: { 'x-amzn-errortype': type },
    events: [],
  })

  it.each<[string, string, CallOptions, object]>([
    ['by its name', '{"a":1}', {}, { status: 200, headers, body: '{"a":1}\n' }],
    ['with an empty object for an empty payload', '', {}, { events: [{}] }],
    [
      'that throws, with 200, the header of a function error, and a log line',
      '"throw"',
      {},
      broken,
    ],
    [
      'asynchronously, also if it throws',
      '"throw"',
      { type: 'Event' },
      { status: 202, events: ['throw'] },
    ],
    ['for its own duty', '{}', { duty: 'support' }, { status: 200, events: [{}] }],
    [
      'that is scheduled work for the duty deploy',
      '{}',
      { duty: 'deploy', spec: SWEPT },
      { status: 200, events: [{}] },
    ],
    [
      'not by an unknown name',
      '{}',
      { name: 'gateway-local-none' },
      refused(404, 'ResourceNotFoundException'),
    ],
    ['not with a payload that is no JSON', '{', {}, refused(400, 'InvalidRequestContentException')],
    [
      'not for an unknown duty',
      '{}',
      { duty: 'boss' },
      refused(400, 'InvalidParameterValueException'),
    ],
    ['not for another duty', '{}', { duty: 'finance' }, refused(403, 'AccessDeniedException')],
    [
      'not for operators if it is scheduled work',
      '{}',
      { duty: 'support', spec: SWEPT },
      refused(403, 'AccessDeniedException'),
    ],
  ])(
    'invokes a function %s',
    async (_case, payload, { name = NAME, type = '', duty = '', spec }, expected) => {
      const echo = vi.fn(async (event: unknown) => {
        if (event === 'throw') throw new TypeError('broken')
        return event
      })
      const { host, codes } = aHost(echo, spec)
      const reply = await answerInvocation(host, {
        ...REQUEST,
        method: 'POST',
        path: `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`,
        headers: {
          ...(type && { 'x-amz-invocation-type': type }),
          ...(duty && { 'x-local-duty': duty }),
        },
        body: Buffer.from(payload),
      })
      const { 'content-type': _type, ...sent } = reply?.headers ?? {}
      const events = echo.mock.calls.map(([event]) => event)
      expect({ ...reply, headers: sent, events, logged: codes() }).toMatchObject(expected)
    },
  )
})

function eventOf({ search = '', ...changes }: Partial<LocalRequest>) {
  return httpEvent(
    {
      ...REQUEST,
      method: 'GET',
      path: '/v1/payments',
      search,
      query: new URLSearchParams(search),
      ...changes,
    },
    { routeKey: 'GET /v1/payments', pathParameters: {} },
    { requestId: 'r-1', nowMs: 0, domainName: '127.0.0.1:3000' },
  )
}

it('the event of an HTTP request (payload format 2.0) joins repeated values by commas, and has the query raw and decoded', () => {
  const sent = 'Authorization|Bearer a|AUTHORIZATION|Bearer b|Idempotency-Key|k'
  const rawHeaders = `${sent}|Cookie|a=1; b=2|Cookie|c=3`.split('|')
  const search = 'status=a%2Fb&status=c&q=x+y&empty=&__proto__=1'

  const {
    headers,
    cookies,
    queryStringParameters = {},
    rawQueryString,
  } = eventOf({ rawHeaders, search })

  expect(headers).toStrictEqual({ authorization: 'Bearer a,Bearer b', 'idempotency-key': 'k' })
  expect(cookies).toStrictEqual(['a=1', 'b=2', 'c=3'])
  expect(queryStringParameters).toStrictEqual({
    status: 'a/b,c',
    q: 'x y',
    empty: '',
    ['__proto__']: '1',
  })
  expect(rawQueryString).toBe(search)
})

it.each<[string, string, string, object]>([
  ['GET /v1/payments/abc', 'api-get-payment', 'GET /v1/payments/{id}', { id: 'abc' }],
  ['GET /v1/payments/%zz', 'api-get-payment', 'GET /v1/payments/{id}', { id: '%zz' }],
  [
    'POST /v1/payments/a%2Fb/cancel',
    'api-cancel-payment',
    'POST /v1/payments/{id}/cancel',
    { id: 'a/b' },
  ],
  ['POST /callbacks/xendit', 'receive-provider-callback', 'POST /callbacks/xendit', {}],
  ...[
    'DELETE /v1/payments',
    'GET /v1/Payments',
    'GET /v1/payments/',
    'POST /v1/payments//cancel',
    'GET ',
  ].map(
    (request) => [request, 'api-not-found', '$default', {}] as [string, string, string, object],
  ),
])(
  'the manifest leads %s to %s; a segment with a broken escape is passed on as sent',
  (request, ...expected) => {
    const [method = '', path = ''] = request.split(' ')
    const route = functionRoutes(MANIFEST.map((spec) => ({ spec })))(method, path)

    expect([route?.entry.spec.name, route?.routeKey, route?.pathParameters]).toStrictEqual(expected)
  },
)

it('the local HTTP server prints an error that it answers with 500, and the request that caused it', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const failure = new Error('no such page')
  const server = await startLocalHttpServer({ port: 0, answer: () => Promise.reject(failure) })
  const answer = await fetch(`${server.url}/page?of=1`)
  await server.close()

  expect(answer.status).toBe(500)
  expect(printed.mock.calls).toStrictEqual([
    ['\nThe local server failed at GET /page?of=1:', failure],
  ])
})
