import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { createCallbackSender } from '../../../infra/local/provider-simulator/create-callback-sender.ts'
import { API_HEADERS, aRequestBody, simulatorIt as it, spawnModule } from '../../support/provider-simulator-harness.ts'
import { silence, startScriptedServer } from '../../support/scripted-server.ts'

describe('the HTTP face of the provider simulator', () => {
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
})

const CALLBACK = { headers: { 'content-type': 'application/json', 'x-callback-token': 't' }, body: '{"event":"é"}' }

const aSender = (url: string, timeoutMs?: number) => {
  const sender = createCallbackSender({ url: () => url, ...(timeoutMs !== undefined && { timeoutMs }) })
  onTestFinished(sender.close)
  return sender
}

describe('the callback sender of the provider simulator', () => {
  it('posts headers and body unchanged and resolves with the status', async () => {
    const { url, requests } = await startScriptedServer((response) => response.writeHead(503).end())

    expect(await aSender(`${url}/callbacks/xendit`).send(CALLBACK)).toBe(503)
    expect(requests).toStrictEqual([
      {
        method: 'POST',
        url: '/callbacks/xendit',
        headers: expect.objectContaining(CALLBACK.headers),
        body: CALLBACK.body,
      },
    ])
  })

  it('rejects when the answer does not come in time, and what is under way when it is closed', async () => {
    const { url } = await startScriptedServer(silence)
    const sender = aSender(url)
    const pending = expect(sender.send(CALLBACK)).rejects.toThrow(/aborted|hang up/)

    await expect(aSender(url, 20).send(CALLBACK)).rejects.toThrow('aborted')
    sender.close()
    await pending
  })

  it.for([
    ['nobody listens', 'http://127.0.0.1:1/', 'ECONNREFUSED'],
    ['the callback address is none', 'not a url', 'Invalid URL'],
  ])('rejects when %s', async ([, url = '', message]) => {
    await expect(aSender(url).send(CALLBACK)).rejects.toThrow(message)
  })
})
