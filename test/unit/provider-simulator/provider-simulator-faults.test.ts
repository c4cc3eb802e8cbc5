import { describe, expect, it } from 'vitest'
import { answerProviderCall } from '../../../infra/local/provider-simulator/answer-provider-call.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { API_HEADERS, aCore, aRequestBody, simulatorIt } from '../../support/provider-simulator-harness.ts'

const PAYMENT_ID = '5f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f'

/** A core with one open and one paid request, and for every target a call that would succeed. */
const arranged = (...fault: readonly [target?: string, fault?: string, value?: unknown]) => {
  const { core, create, pay, statusOf, order } = aCore()
  const open = create()
  const calls: Readonly<Record<string, readonly [method: string, path: string, body?: string]>> = {
    create: ['POST', '/v3/payment_requests', JSON.stringify(aRequestBody())],
    get: ['GET', `/v3/payment_requests/${open}`],
    'get (payment)': ['GET', `/v3/payments/${pay()}`],
    cancel: ['POST', `/v3/payment_requests/${open}/cancel`],
  }
  const make = (name = '', key = PROVIDER_KEY) => {
    const [method, path, body = ''] = calls[name] ?? ['GET', '/transactions']
    return answerProviderCall(core, key, { method, path, body, query: new URLSearchParams(), headers: API_HEADERS })
  }
  const [target, name = '', value] = fault
  if (target !== undefined) order(target.split(' ')[0] ?? '', name, value)
  return {
    core,
    order,
    make: (other = target, key?: string) => make(other, key),
    /** How often the create or the cancel has taken effect. */
    effects: () => core.findPaymentRequests('').length - 2 + (statusOf(open) === 'CANCELED' ? 1 : 0),
  }
}

describe.each(['create', 'get', 'get (payment)', 'cancel', 'transactions'])('a call fault for target %s', (target) => {
  const success = { kind: 'answer', status: target === 'create' ? 201 : 200, delayMs: 0 }
  const refusal = (status: number, errorCode: string) => ({
    ...success,
    status,
    body: { error_code: errorCode, message: expect.any(String) },
  })

  it.each([
    ['timeout', undefined, 0, { kind: 'silence' }],
    ['timeout_after_commit', undefined, 1, { kind: 'silence' }],
    ['http_500', undefined, 0, refusal(500, 'SERVER_ERROR')],
    ['http_503', undefined, 0, refusal(503, 'CHANNEL_UNAVAILABLE')],
    ['http_429', undefined, 0, refusal(429, 'RATE_LIMIT_EXCEEDED')],
    ['refuse', 'CHANNEL_NOT_ACTIVATED', 0, refusal(403, 'CHANNEL_NOT_ACTIVATED')],
    ['refuse', 'TEMPORARILY_UNAVAILABLE', 0, refusal(400, 'TEMPORARILY_UNAVAILABLE')],
    ['slow', 1500, 1, { ...success, delayMs: 1500 }],
  ])('%s %s strikes once, and what was asked for happens %i times', (fault, value, times, answer) => {
    const { make, effects } = arranged(target, fault, value)

    const struck = make()
    const happened = effects()
    const next = make()

    expect(struck).toMatchObject(answer)
    expect(happened).toBe(target === 'create' || target === 'cancel' ? times : 0)
    expect(next).toMatchObject(target === 'cancel' && times === 1 ? { status: 400 } : success)
  })
})

describe('the call faults of the provider simulator', () => {
  it('strike as often as ordered, then no more, in the order given', () => {
    const { order, make } = arranged()
    order('get', 'http_500', undefined, 2)
    order('get', 'http_503')

    const answers = [make('get'), make('get'), make('get (payment)'), make('get')]

    expect(answers).toMatchObject([{ status: 500 }, { status: 500 }, { status: 503 }, { status: 200 }])
  })

  it('are not used up by a caller with a wrong key', () => {
    const { make } = arranged('get', 'http_500')

    expect([make('get', 'another key'), make('get')]).toMatchObject([{ status: 401 }, { status: 500 }])
  })

  it.each([
    [{ target: 'creat', fault: 'timeout' }, 'unknown target: creat; one of create, get, cancel'],
    [{ target: 'create', fault: 'lost' }, 'unknown fault for target create: lost; one of timeout_after_commit'],
    [{ target: 'create', fault: 'slow' }, 'value of slow'],
    [{ target: 'create', fault: 'refuse' }, 'value of refuse'],
    [{ target: 'create', fault: 'timeout', times: 0 }, 'times'],
    [{ target: 'callback', fault: 'delay' }, 'value of delay'],
    [{ target: 'callback', fault: 'duplicate', value: 0 }, 'value of duplicate'],
    [{ target: 'callback', fault: 'forged', value: 'x' }, 'value of forged'],
    [{ target: 'payment', fault: 'wrong_amount' }, 'value of wrong_amount'],
    [{ target: 'transactions', fault: 'fee', value: 1.5 }, 'value of fee'],
    [{ target: 'transactions', fault: 'fee_late', value: 'soon' }, 'value of fee_late'],
    [undefined, 'Invalid type'],
  ])('refuse the order %j', (order, message) => {
    const { core } = aCore()

    expect(() => core.orderFault(order)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining(message) }),
    )
    expect(core.armedFaults()).toStrictEqual([])
  })
})

describe('the callback faults of the provider simulator', () => {
  simulatorIt.for<[string, (readonly [fault: string, value?: number])[], number[]]>([
    ['lost', [['lost']], []],
    ['duplicate', [['duplicate']], [0, 0]],
    ['delay 90', [['delay', 90]], [90]],
    [
      'delay and duplicate',
      [
        ['delay', 10],
        ['duplicate', 3],
      ],
      [10, 10, 10],
    ],
    ['reorder, for want of another', [['reorder']], [5]],
  ])(
    '%s: the callback of that payment comes, under one webhook id, after %j seconds',
    async ([, faults, seconds], { sim }) => {
      for (const [fault, value] of faults) sim.order('callback', fault, value)
      sim.pay()

      const startedMs = sim.clock.nowMs()
      await sim.advance(120)

      expect(sim.callbacks.map(({ created }) => (Date.parse(created) - startedMs) / 1_000)).toStrictEqual(seconds)
      expect(new Set(sim.callbacks.map(({ headers }) => headers['webhook-id'])).size).toBe(Math.min(1, seconds.length))
    },
  )

  simulatorIt('reorder: the callback comes after the next one', async ({ sim: { order, pay, advance, callbacks } }) => {
    order('callback', 'reorder')
    const first = pay()
    await advance(1)
    const second = pay()
    await advance(0)

    expect(callbacks.map(({ data }) => data['payment_id'])).toStrictEqual([second, first])
  })

  simulatorIt('wrong_token: the callback and its retries carry another token', async ({ sim }) => {
    sim.receiver.status = 401
    sim.order('callback', 'wrong_token')
    sim.pay()
    await sim.advance(0)
    await sim.advance(15 * 60)

    const tokens = sim.callbacks.map(({ headers }) => headers['x-callback-token'])
    expect(tokens).toHaveLength(2)
    expect(tokens).not.toContain(CALLBACK_TOKEN)
  })

  simulatorIt('legacy_names: each event comes under its older name', async ({ sim }) => {
    sim.order('callback', 'legacy_names', undefined, 3)
    for (const status of ['SUCCEEDED', 'FAILED', 'EXPIRED', 'EXPIRED'] as const) sim.end(sim.create(), status)
    await sim.advance(0)

    expect(sim.callbacks.map(({ event }) => event)).toStrictEqual([
      'payment.succeeded',
      'payment.failed',
      'payment_request.expired',
      'payment_request.expiry',
    ])
  })

  simulatorIt(
    'forged: a capture with the right token comes at once for the latest unpaid request, unknown upstream',
    async ({ sim: { core, create, order, advance, callbacks, receiver, statusOf, rows } }) => {
      receiver.status = 500
      create('DANA', { reference_id: `${PAYMENT_ID}-1` })
      const latest = create('DANA', { reference_id: `${PAYMENT_ID}-2` })
      create('DANA', { reference_id: '6f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1' })

      order('callback', 'forged', { payment_id: PAYMENT_ID })
      await advance(0)
      await advance(86_000)

      const forgeries = callbacks.filter(({ event }) => event === 'payment.capture')
      expect(forgeries).toMatchObject([
        {
          headers: { 'x-callback-token': CALLBACK_TOKEN },
          data: {
            reference_id: `${PAYMENT_ID}-2`,
            payment_request_id: latest,
            payment_id: expect.stringMatching(/^py-/),
            status: 'SUCCEEDED',
            captures: [{ capture_amount: 150_000 }],
          },
        },
      ])
      const unknown = () => core.getPayment(String(forgeries[0]?.data['payment_id']))
      expect(unknown).toThrow(expect.objectContaining({ status: 404 }))
      expect(statusOf(latest)).toBe('REQUIRES_ACTION')
      expect(rows()).toStrictEqual([])
    },
  )
})
