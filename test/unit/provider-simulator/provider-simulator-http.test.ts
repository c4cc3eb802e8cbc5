import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { startProviderSimulator } from '../../../infra/local/provider-simulator/provider-simulator.ts'
import {
  API_HEADERS,
  aRequestBody,
  CALLBACK_TOKEN,
  simulatorIt as it,
  SECRET_KEY,
  spawnModule,
} from '../../support/provider-simulator-harness.ts'

describe('the HTTP face of the provider simulator', () => {
  it('walks a payment from creation to its transaction', async ({ running: { call, create, receiver, clock } }) => {
    const { path } = await create()
    const simulated = await call('POST', `${path}/simulate`, { amount: 150_000 })
    const [callback] = await receiver.waitFor(1)
    const request = await call<{ status: string; latest_payment_id: string }>('GET', path)
    const payment = await call('GET', `/v3/payments/${request.body.latest_payment_id}`)
    clock.advance(300)
    const listed = await call<{ data: { id: string; net_amount: number }[] }>(
      'GET',
      `/transactions?product_id=${request.body.latest_payment_id}&updated%5Bgte%5D=2026-01-01T00:00:00Z`,
    )
    const transaction = await call('GET', `/transactions/${listed.body.data[0]?.id}`)

    const answers = [simulated, request, payment, listed, transaction]
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200, 200, 200])
    expect(simulated.body).toMatchObject({ status: 'PENDING' })
    expect(request.body.status).toBe('SUCCEEDED')
    expect(callback).toMatchObject({
      headers: { 'x-callback-token': CALLBACK_TOKEN, 'webhook-id': expect.any(String) },
      body: { event: 'payment.capture', data: payment.body },
    })
    expect(listed.body.data).toStrictEqual([transaction.body])
    expect(listed.body.data[0]?.net_amount).toBe(145_560)
  })

  it('cancels', async ({ running: { call, create } }) => {
    const { path } = await create('QRIS')

    expect([await call('POST', `${path}/cancel`), await call('POST', `${path}/cancel`)]).toMatchObject([
      { status: 200, body: { status: 'CANCELED' } },
      { status: 400, body: { error_code: 'INACTIVE_PAYMENT_REQUEST' } },
    ])
  })

  it('sends the callback of an expiry on the clock', async ({ running: { create, clock, receiver } }) => {
    await create('OVO')

    clock.advance(55)

    const [callback] = await receiver.waitFor(1)
    expect(callback?.body).toMatchObject({ event: 'payment_request.expiry', data: { status: 'EXPIRED' } })
  })

  it.for([
    ['no key', undefined],
    ['another key', `Basic ${btoa('xnd_development_other:')}`],
    ['a password', `Basic ${btoa('xnd_development_local:x')}`],
    ['a bearer token', 'Bearer xnd_development_local'],
  ])('refuses %s', async ([, authorization], { running: { call } }) => {
    const headers = { 'api-version': '2024-11-11', ...(authorization !== undefined && { authorization }) }
    const refusal = { status: 401, body: { error_code: 'INVALID_API_KEY', message: expect.any(String) } }

    expect(await call('POST', '/v3/payment_requests', aRequestBody(), headers)).toMatchObject(refusal)
    expect(await call('GET', '/transactions', undefined, headers)).toMatchObject(refusal)
  })

  it('demands the api-version of the v3 paths only', async ({ running: { call } }) => {
    const { authorization } = API_HEADERS
    const get = (path: string, headers: object) => call('GET', path, undefined, { authorization, ...headers })

    expect([
      await get('/v3/payments/py-1', {}),
      await get('/v3/payments/py-1', { 'api-version': '2019-01-01' }),
      await get('/transactions', {}),
    ]).toMatchObject([
      { status: 400, body: { message: 'API version in header is required' } },
      { status: 400 },
      { status: 200 },
    ])
  })

  it.for([
    'GET /v3/payment_requests/pr-none',
    'POST /v3/payment_requests/pr-none/cancel',
    'POST /v3/payment_requests/pr-none/simulate',
    'GET /v3/payments/py-none',
    'GET /v3/payments/__proto__',
    'GET /transactions/txn_none',
    'GET /v3/payment_requests',
    'DELETE /v3/payment_requests/pr-none',
    'GET /',
    'GET //',
    'GET /v3/payments/%E0%A4%A',
    'POST /_simulator/nothing',
    'POST /_simulator/payment_requests/pr-none/expire',
    'POST /_simulator/payment_requests/pr-none/explode',
  ])('answers 404 in the form of an error to %s', async (route, { running: { call } }) => {
    const [method = '', path = ''] = route.split(' ')
    const body = { error_code: 'DATA_NOT_FOUND', message: expect.any(String) }

    expect(await call(method, path)).toMatchObject({ status: 404, body })
  })

  it.for([
    ['no body', ''],
    ['a torn body', '{"reference_id": '],
    ['an array', '[]'],
    ['a number', '1e400'],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['__proto__', '{"__proto__": {"reference_id": "x"}}'],
  ] as const)('answers 400 to %s and goes on', async ([, body], { running: { call, create } }) => {
    expect(await call('POST', '/v3/payment_requests', body)).toMatchObject({
      status: 400,
      body: { error_code: 'API_VALIDATION_ERROR' },
    })
    expect(await create()).toMatchObject({ status: 'REQUIRES_ACTION' })
  })

  it('answers 413 to a body of more than a megabyte', async ({ running: { call } }) => {
    expect((await call('POST', '/v3/payment_requests', 'x'.repeat(1024 * 1024 + 1))).status).toBe(413)
  })

  it('survives bytes that are not HTTP', async ({ running: { call, simulator } }) => {
    const socket = connect(simulator.port, '127.0.0.1')

    socket.write('\u0000\u0001 nonsense\r\n\r\n')
    const [reply] = await once(socket, 'data')
    socket.destroy()

    expect(String(reply)).toMatch(/^HTTP\/1\.1 400 /)
    expect((await call('GET', '/transactions')).status).toBe(200)
  })

  it('serves 500 connections at once', async ({ running: { call, created } }) => {
    const create = () => call('POST', '/v3/payment_requests', aRequestBody(), { ...API_HEADERS, connection: 'close' })

    const answers = await Promise.all(Array.from({ length: 500 }, create))

    expect(answers.filter(({ status }) => status !== 201)).toStrictEqual([])
    expect(await created()).toHaveLength(500)
  })

  it('ends hanging and slow calls when it is closed', async ({ running: { create, created, order, close } }) => {
    await order('create', 'timeout_after_commit')
    await order('create', 'slow', 600_000)
    const pending = Promise.allSettled([create(), create()])
    await expect.poll(() => created()).toHaveLength(2)

    await close()

    const cut = { status: 'rejected', reason: expect.any(TypeError) }
    expect(await pending).toStrictEqual([cut, cut])
  })

  it('leaves nothing behind that keeps the process alive', async () => {
    const child = spawnModule(`
      import { createServer } from 'node:http'
      import { startLocalClock } from '#local/process/local-clock.ts'
      import { startProviderSimulator } from '#local/provider-simulator/provider-simulator.ts'
      const called = Promise.withResolvers()
      const silent = createServer(called.resolve).listen(0, '127.0.0.1')
      const simulator = await startProviderSimulator({
        clock: startLocalClock(), port: 0, secretKey: 'k', callbackToken: 't',
        callbackUrl: () => 'http://127.0.0.1:' + silent.address().port,
      })
      const call = (path, body) => fetch(simulator.url + path, {
        method: 'POST', body: JSON.stringify(body),
        headers: { authorization: 'Basic ' + btoa('k:'), 'api-version': '2024-11-11' },
      })
      const create = () => call('/v3/payment_requests', ${JSON.stringify(aRequestBody())})
      const { payment_request_id: id } = await (await create()).json()
      await call('/v3/payment_requests/' + id + '/simulate')
      await call('/_simulator/faults', { target: 'create', fault: 'slow', value: 600000 })
      await call('/_simulator/faults', { target: 'create', fault: 'timeout' })
      const cut = [create(), create()]
      const created = async () => (await (await fetch(simulator.url + '/_simulator/payment_requests')).json()).length
      while (await created() < 2);
      await called.promise
      await Promise.all([simulator.close(), Promise.allSettled(cut)])
      silent.close()
      process.on('exit', () => console.log('nothing left'))`)

    const [output] = await once(child.stdout, 'data')

    expect(String(output)).toBe('nothing left\n')
  })

  it('rejects when its port is taken', async ({ running: { clock, simulator, receiver } }) => {
    const second = startProviderSimulator({
      clock,
      port: simulator.port,
      secretKey: SECRET_KEY,
      callbackUrl: () => receiver.url,
      callbackToken: CALLBACK_TOKEN,
    })

    await expect(second).rejects.toThrow('is taken')
  })
})
