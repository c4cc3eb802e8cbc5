import { expect, it } from 'vitest'
import { METRICS } from '../../../shared/metrics.ts'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import { joiningLog, jsonLog } from '../../../shared/runtime/json-log.ts'

import {
  API,
  type ApiRequest,
  type ApiResponse,
  anApi,
  anApiClient,
  aPaymentBody,
  call,
  type Endpoint,
  sendCapture,
  UNKNOWN_PATH,
} from '../../support/api-event.ts'
import { interceptTable, memoryDeps, testDeps } from '../../support/test-deps.ts'

/*
 * Goal: no secret, no personal data and no part of a body reaches a log line, also when the request
 * fails. Method: the output of the deployed logger; requests in which every value is a unique word;
 * failures whose messages quote all of them, as messages of foreign errors do.
 */

function word(name: string) {
  return `zq-${name}-5501`
}

const body = aPaymentBody({
  method: 'ewallet',
  channel_code: 'OVO',
  external_reference: word('reference'),
  customer: { name: word('name'), email: word('email'), phone: '+6281255045504' },
  description: word('description'),
  metadata: { [word('key')]: word('value') },
})

it('the log (design section 4; style guide: ids only) has a line for every request, without any text that clients sent', async () => {
  const lines: string[] = []
  const deps = testDeps({ log: jsonLog('test', (line) => void lines.push(line)) })
  const caller = await anApiClient(deps)
  const answers: ApiResponse[] = []
  const send = async (endpoint: Endpoint, request: ApiRequest, withDeps = deps) => {
    const answer = await call(withDeps, endpoint, { caller, ...request })
    answers.push(answer)
    return answer
  }
  const create = (sent: unknown = body) =>
    send(API.createPayment, { body: sent, headers: { 'Idempotency-Key': word('idempotency') } })
  // The error quotes every text, in one line and in lines that look like a stack's.
  const texts = [
    ...['idempotency', 'query', 'path', 'field'].map(word),
    caller.authorization,
    JSON.stringify(body),
  ]
  const error = new Error(
    `refused: ${texts.join(' ')}\n${texts.map((value) => `    at ${value}`).join('\n')}`,
  )
  const foreign = { id: word('path'), body, query: { [word('query')]: word('query') } }

  for (const wrong of [
    { [word('field')]: 'x' },
    { method: word('value') },
    { metadata: word('value') },
  ])
    await create({ ...body, ...wrong })
  await create(JSON.stringify(body).slice(0, -1))
  deps.provider.answer('createRequest', { kind: 'refused', code: 'API_VALIDATION_ERROR' })
  await create()
  deps.provider.script('createRequest', () => Promise.reject(error))
  await create()
  deps.clock.advance(120)
  deps.provider.heal('createRequest')
  const id = String((await create()).body['id'])
  await create()
  await send(API.cancelPayment, { id })
  await send(API.listPayments, { query: { status: word('query') } })
  await send(API.getBalance, { caller: { authorization: `${caller.authorization}x` } })
  for (const withDeps of [deps, interceptTable(deps, { before: () => Promise.reject(error) })]) {
    for (const endpoint of [...Object.values(API), UNKNOWN_PATH])
      await send(endpoint, foreign, withDeps)
  }

  const output = lines.join('\n')
  const requests = lines.filter((line) => /"request\.(completed|failed)"/.test(line))
  expect(new Set(answers.map(({ status }) => status))).toStrictEqual(
    new Set([422, 500, 201, 200, 401, 404]),
  )
  expect(requests).toHaveLength(answers.length)
  expect(answers.filter(({ requestId }, at) => !requests[at]?.includes(requestId))).toStrictEqual(
    [],
  )
  expect(output).toContain('"error_stack"')
  expect(output).not.toMatch(/zq-\w+-5501|6281255045504/)
  expect(output).not.toContain(caller.authorization.slice(-43))
})

it('a create, a callback that credits and a cancel write one line each (design: one log line a request)', async () => {
  const lines: object[] = []
  const log = joiningLog((_, code, line) => void lines.push({ code, ...line }))
  const plain = memoryDeps({ log })

  // The provider's calls are logged as they are on AWS.
  const { deps, ask } = await anApi(
    {},
    { ...plain, provider: { ...plain.provider, ...loggedProvider(plain.provider, plain) } },
  )
  const create = async () => (await ask('createPayment', { body: aPaymentBody() })).body
  lines.length = 0
  const payment = await create()
  const [payment_request_id = ''] = plain.provider.requests.keys()
  const data = {
    payment_id: plain.provider.pay(payment_request_id),
    payment_request_id,
    reference_id: `${String(payment['id'])}-1`,
    status: 'SUCCEEDED',
  }

  await sendCapture(deps, data)

  await ask('cancelPayment', { id: String((await create())['id']) })

  const created = {
    code: 'request.completed',
    status: 201,
    outcomes: 'provider.called payment.created',
  }
  expect(lines).toMatchObject([
    { ...created, payment_id: payment['id'], operation: 'create_request' },
    {
      code: 'request.completed',
      status: 200,
      outcomes: 'provider.called payment.succeeded',
      payment_id: payment['id'],
    },
    created,
    { code: 'request.completed', status: 200, outcomes: 'provider.called payment.cancelled' },
  ])
})

it('wallets outside the table of channels share one metric, and their codes stay in the log', async () => {
  const lines: Readonly<Record<string, unknown>>[] = []
  const log = joiningLog((_, __, line) => void lines.push(line))
  const { ask } = await anApi({}, testDeps({ log }))
  const codes = ['DANA', 'MADE_UP_1', 'MADE_UP_2']

  for (const channel_code of codes)
    await ask('createPayment', { body: aPaymentBody({ method: 'ewallet', channel_code }) })

  const measured = lines.filter((line) => 'Payments' in line)
  expect(measured.map(({ channel }) => channel)).toStrictEqual(['DANA', 'other', 'other'])
  expect(measured.map(({ channel_code }) => channel_code)).toStrictEqual([
    undefined,
    ...codes.slice(1),
  ])
  const dimensions = Object.values(METRICS).flatMap(({ dimensionSets }) => dimensionSets.flat())
  expect(dimensions).not.toContain('channel_code')
})

it('the log of a request is one line with ids, client and key, the route as a template, status, code and duration', async () => {
  const { deps, ask } = await anApi()
  deps.lines.length = 0

  const balance = await ask('getBalance', { headers: { 'x-amz-cf-id': 'front-1_a==' } })
  const absence = await ask('getPayment', {
    id: deps.newId(),
    headers: { 'x-amz-cf-id': 'a line\n' },
  })

  const balanceFields = {
    client_id: expect.any(String),
    key_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    duration_ms: 0,
    request_id: balance.requestId,
    front_request_id: 'front-1_a==',
  }
  const lines = [
    { ...balanceFields, route: 'GET /v1/balance', status: 200 },
    {
      ...balanceFields,
      request_id: absence.requestId,
      front_request_id: undefined,
      route: 'GET /v1/payments/{id}',
      status: 404,
      code: 'not_found',
    },
  ]
  expect(deps.lines).toStrictEqual(
    lines.map((fields) => ({ level: 'info', code: 'request.completed', fields })),
  )
})
