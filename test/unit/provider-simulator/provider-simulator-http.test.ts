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

  const CREATE = 'POST /v3/payment_requests'

  it.for<[status: number, route: string, body?: string]>([
    [404, 'GET /v3/payment_requests/pr-none'],
    [404, 'POST /v3/payment_requests/pr-none/cancel'],
    [404, 'POST /v3/payment_requests/pr-none/simulate'],
    [404, 'GET /v3/payments/py-none'],
    [404, 'GET /v3/payments/__proto__'],
    [404, 'GET /transactions/txn_none'],
    [404, 'GET /v3/payment_requests'],
    [404, 'DELETE /v3/payment_requests/pr-none'],
    [404, 'GET /'],
    [404, 'GET //'],
    [404, 'GET /v3/payments/%E0%A4%A'],
    [404, 'POST /_simulator/nothing'],
    [404, 'POST /_simulator/payment_requests/pr-none/expire'],
    [404, 'POST /_simulator/payment_requests/pr-none/explode'],
    [400, CREATE, ''],
    [400, CREATE, '{"reference_id": '],
    [400, CREATE, '[]'],
    [400, CREATE, '1e400'],
    [400, CREATE, `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    [400, CREATE, '{"__proto__": {"reference_id": "x"}}'],
    [413, CREATE, 'x'.repeat(1024 * 1024 + 1)],
  ])('answers %i in the form of an error to %s %.40s', async ([status, route, body], { running: { call } }) => {
    const [method = '', path = ''] = route.split(' ')
    const code = { 400: 'API_VALIDATION_ERROR', 404: 'DATA_NOT_FOUND' }[status]

    const answer = await call(method, path, body)

    expect(answer).toMatchObject({ status, body: { ...(code && { error_code: code }), message: expect.any(String) } })
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
