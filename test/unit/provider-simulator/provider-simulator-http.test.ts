import { once } from 'node:events'
import { describe, expect, onTestFinished } from 'vitest'
import { createCallbackSender } from '../../../infra/local/provider-simulator/create-callback-sender.ts'
import { API_HEADERS, aRequestBody, simulatorIt as it, spawnModule } from '../../support/provider-simulator-harness.ts'
import { silence, startScriptedServer } from '../../support/scripted-server.ts'

describe('the HTTP face of the provider simulator', () => {
  const { authorization, 'api-version': version } = API_HEADERS
  const ofOther = `Basic ${btoa('xnd_development_other:')}`

  it.for<[string, string, object, number]>([
    ['no key', '/transactions', { 'api-version': version }, 401],
    ['another key', '/v3/payments/py-1', { 'api-version': version, authorization: ofOther }, 401],
    ['a password', '/transactions', { authorization: `Basic ${btoa('xnd_development_local:x')}` }, 401],
    ['a bearer token', '/transactions', { authorization: 'Bearer xnd_development_local' }, 401],
    ['another version', '/v3/payments/py-1', { authorization, 'api-version': '2019-01-01' }, 400],
    ['no version where none is demanded', '/transactions', { authorization }, 200],
  ])('answers %s to %s', async ([, path, headers, status], { running: { call } }) => {
    expect((await call('GET', path, undefined, headers)).status).toBe(status)
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

  it('rejects when the answer does not come in time, when there is no address, and when it is closed meanwhile', async () => {
    const { url } = await startScriptedServer(silence)
    const sender = aSender(url)
    const pending = expect(sender.send(CALLBACK)).rejects.toThrow(/aborted|hang up/)

    await expect(aSender(url, 20).send(CALLBACK)).rejects.toThrow('aborted')
    await expect(aSender('not a url').send(CALLBACK)).rejects.toThrow('Invalid URL')
    sender.close()
    await pending
  })
})
