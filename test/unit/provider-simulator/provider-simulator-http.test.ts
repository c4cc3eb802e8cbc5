import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startProviderSimulator } from '../../../infra/local/provider-simulator/provider-simulator.ts'
import {
  API_HEADERS,
  aRequestBody,
  aSimulator,
  CALLBACK_TOKEN,
  SECRET_KEY,
  spawnModule,
} from '../../support/provider-simulator-harness.ts'

type Created = { payment_request_id: string; reference_id: string; status: string; actions: { value: string }[] }
type Failure = { error_code: string; message: string }

describe('the HTTP face of the provider simulator', () => {
  it('walks a payment from creation to its transaction', async () => {
    await using harness = await aSimulator()
    const { call, receiver, clock } = harness

    const created = await call<Created>('POST', '/v3/payment_requests', aRequestBody())
    const path = `/v3/payment_requests/${created.body.payment_request_id}`
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

    expect([created, simulated, request, payment, listed, transaction].map(({ status }) => status)).toStrictEqual([
      201, 200, 200, 200, 200, 200,
    ])
    expect(simulated.body).toMatchObject({ status: 'PENDING' })
    expect(request.body.status).toBe('SUCCEEDED')
    expect(callback).toMatchObject({
      headers: { 'x-callback-token': CALLBACK_TOKEN, 'webhook-id': expect.any(String) },
      body: { event: 'payment.capture', data: payment.body },
    })
    expect(listed.body.data).toStrictEqual([transaction.body])
    expect(listed.body.data[0]?.net_amount).toBe(145_560)
  })

  it('cancels', async () => {
    await using harness = await aSimulator()
    const created = await harness.call<Created>('POST', '/v3/payment_requests', aRequestBody('QRIS'))
    const path = `/v3/payment_requests/${created.body.payment_request_id}/cancel`

    const first = await harness.call('POST', path)
    const second = await harness.call('POST', path)

    expect(first).toMatchObject({ status: 200, body: { status: 'CANCELED' } })
    expect(second).toMatchObject({ status: 400, body: { error_code: 'INACTIVE_PAYMENT_REQUEST' } })
  })

  it('sends the callback of an expiry on the clock', async () => {
    await using harness = await aSimulator()
    await harness.call('POST', '/v3/payment_requests', aRequestBody('OVO'))

    harness.clock.advance(55)

    const [callback] = await harness.receiver.waitFor(1)
    expect(callback?.body).toMatchObject({ event: 'payment_request.expiry', data: { status: 'EXPIRED' } })
  })

  it.each([
    ['no key', undefined],
    ['another key', `Basic ${Buffer.from('xnd_development_other:').toString('base64')}`],
    ['a password', `Basic ${Buffer.from('xnd_development_local:x').toString('base64')}`],
    ['a bearer token', 'Bearer xnd_development_local'],
  ])('refuses %s', async (_what, authorization) => {
    await using harness = await aSimulator()
    const headers = { 'api-version': '2024-11-11', ...(authorization === undefined ? {} : { authorization }) }

    const answers = [
      await harness.call('POST', '/v3/payment_requests', aRequestBody(), headers),
      await harness.call('GET', '/transactions', undefined, headers),
    ]

    expect(answers).toMatchObject([
      { status: 401, body: { error_code: 'INVALID_API_KEY', message: expect.any(String) } },
      { status: 401, body: { error_code: 'INVALID_API_KEY' } },
    ])
  })

  it('demands the api-version of the v3 paths only', async () => {
    await using harness = await aSimulator()
    const { authorization } = API_HEADERS
    const old = { authorization, 'api-version': '2019-01-01' }

    const without = await harness.call('GET', '/v3/payments/py-1', undefined, { authorization })
    const outdated = await harness.call('GET', '/v3/payments/py-1', undefined, old)
    const transactions = await harness.call('GET', '/transactions', undefined, { authorization })

    expect(without).toMatchObject({ status: 400, body: { message: 'API version in header is required' } })
    expect(outdated.status).toBe(400)
    expect(transactions.status).toBe(200)
  })

  it.each([
    ['GET', '/v3/payment_requests/pr-none'],
    ['POST', '/v3/payment_requests/pr-none/cancel'],
    ['POST', '/v3/payment_requests/pr-none/simulate'],
    ['GET', '/v3/payments/py-none'],
    ['GET', '/v3/payments/__proto__'],
    ['GET', '/transactions/txn_none'],
    ['GET', '/v3/payment_requests'],
    ['DELETE', '/v3/payment_requests/pr-none'],
    ['GET', '/'],
    ['GET', '//'],
    ['GET', '/v3/payments/%E0%A4%A'],
    ['POST', '/_simulator/nothing'],
    ['POST', '/_simulator/payment_requests/pr-none/expire'],
    ['POST', '/_simulator/payment_requests/pr-none/explode'],
  ])('answers 404 in the form of an error to %s %s', async (method, path) => {
    await using harness = await aSimulator()

    const answer = await harness.call(method, path)

    expect(answer).toMatchObject({
      status: 404,
      body: { error_code: 'DATA_NOT_FOUND', message: expect.any(String) },
    })
  })

  it.each([
    ['no body', ''],
    ['a torn body', '{"reference_id": '],
    ['an array', '[]'],
    ['a number', '1e400'],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['__proto__', '{"__proto__": {"reference_id": "x"}}'],
  ])('answers 400 to %s and goes on', async (_what, body) => {
    await using harness = await aSimulator()

    const refused = await harness.call<Failure>('POST', '/v3/payment_requests', body)
    const next = await harness.call('POST', '/v3/payment_requests', aRequestBody())

    expect(refused).toMatchObject({ status: 400, body: { error_code: 'API_VALIDATION_ERROR' } })
    expect(next.status).toBe(201)
  })

  it('answers 413 to a body of more than a megabyte', async () => {
    await using harness = await aSimulator()

    const answer = await harness.call('POST', '/v3/payment_requests', 'x'.repeat(1024 * 1024 + 1))

    expect(answer.status).toBe(413)
  })

  it('survives bytes that are not HTTP', async () => {
    await using harness = await aSimulator()
    const socket = connect(harness.simulator.port, '127.0.0.1')

    const reply = await new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(data.toString('utf8')))
      socket.write('\u0000\u0001 nonsense\r\n\r\n')
    })
    socket.destroy()

    expect(reply).toMatch(/^HTTP\/1\.1 400 /)
    expect((await harness.call('GET', '/transactions')).status).toBe(200)
  })

  it('serves 500 connections at once', async () => {
    await using harness = await aSimulator()

    const statuses = await Promise.all(
      Array.from({ length: 500 }, async () => {
        const headers = { ...API_HEADERS, connection: 'close' }
        return (await harness.call('POST', '/v3/payment_requests', aRequestBody(), headers)).status
      }),
    )

    expect(statuses.every((status) => status === 201)).toBe(true)
    expect((await harness.call<Created[]>('GET', '/_simulator/payment_requests')).body).toHaveLength(500)
  })

  it('ends hanging and slow calls when it is closed', async () => {
    const harness = await aSimulator()
    await harness.call('POST', '/_simulator/faults', { target: 'create', fault: 'timeout_after_commit' })
    await harness.call('POST', '/_simulator/faults', { target: 'create', fault: 'slow', value: 600_000 })
    const pending = [1, 2].map(() =>
      harness.call('POST', '/v3/payment_requests', aRequestBody()).catch((error: unknown) => error),
    )
    const created = async () => (await harness.call<Created[]>('GET', '/_simulator/payment_requests')).body.length
    for (let count = await created(); count < 2; count = await created());

    await harness[Symbol.asyncDispose]()

    expect(await Promise.all(pending)).toStrictEqual([expect.any(TypeError), expect.any(TypeError)])
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

  it('rejects when its port is taken', async () => {
    await using harness = await aSimulator()

    const second = startProviderSimulator({
      clock: harness.clock,
      port: harness.simulator.port,
      secretKey: SECRET_KEY,
      callbackUrl: () => harness.receiver.url,
      callbackToken: CALLBACK_TOKEN,
    })

    await expect(second).rejects.toThrow('is taken')
  })
})
