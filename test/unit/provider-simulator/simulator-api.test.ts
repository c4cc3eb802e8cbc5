import { describe, expect } from 'vitest'
import { answerProviderCall } from '../../../infra/local/provider-simulator/answer-provider-call.ts'
import {
  CALLBACK_TOKEN,
  PROVIDER_KEY,
} from '../../../infra/local/provider-simulator/simulator-keys.ts'
import {
  API_HEADERS,
  aCore,
  aRequestBody,
  simulatorIt as it,
} from '../../support/provider-simulator-harness.ts'

// The form of each answer and refusal is held against the provider's documents in `provider-contract.test.ts`.

type Menu = {
  controls: { example: string; body?: object }[]
  faults: { target: string; fault: string }[]
}

describe('the control API of the provider simulator (design section 6)', () => {
  it('counts every call of the provider API by its template, also the refused ones', async ({
    running,
  }) => {
    const { call, create, order } = running
    const { path } = await create()
    await call('POST', '/v3/payment_requests', aRequestBody('QRIS'), {})
    await order('get', 'http_500')
    for (const get of [path, '/v3/payments/py-1', '/transactions', '/nowhere'])
      await call('GET', get)

    const counts = await call('GET', '/_simulator/calls')
    const reset = await call('DELETE', '/_simulator/calls')

    expect(counts.body).toStrictEqual({
      'POST /v3/payment_requests': 2,
      'GET /v3/payment_requests/{id}': 1,
      'GET /v3/payments/{id}': 1,
      'GET /transactions': 1,
    })
    expect(reset.body).toStrictEqual({})
  })

  it('lists every control and fault with an example that works as it is', async ({ running }) => {
    const { call, create } = running
    const open = await create('DANA')
    const filled = (text: string) =>
      text.replaceAll('{id}', open.payment_request_id).replaceAll('<payment id>', open.reference_id)

    const { body: menu } = await call<Menu>('GET', '/_simulator')
    const answers: (readonly [unknown, number])[] = []
    for (const { example, body } of menu.controls) {
      const [method = '', path = ''] = filled(example).split(' ')
      // A request is final after its first end, and nothing was paid on it: such a refusal is the control's own answer too.
      const expected = /\/(?:expire|reverse)$/.test(example) ? 400 : 200
      answers.push([example, (await call(method, path, body)).status - expected])
    }
    for (const order of menu.faults) {
      answers.push([
        order,
        (await call('POST', '/_simulator/faults', filled(JSON.stringify(order)))).status - 200,
      ])
    }

    expect(answers.filter(([, difference]) => difference !== 0)).toStrictEqual([])
    expect([menu.controls.length, menu.faults.length]).toStrictEqual([11, 44])
  })

  it('arms, shows and clears faults, each for as often as ordered', async ({
    running: { call, order },
  }) => {
    const armed = await order('create', 'http_429', undefined, 2)
    const limited = await call('POST', '/v3/payment_requests', aRequestBody())
    await order('get', 'http_429')
    const shown = await call('DELETE', '/_simulator/faults?target=get&fault=http_429')
    const cleared = await call('DELETE', '/_simulator/faults')

    expect(armed.body).toMatchObject([{ target: 'create', fault: 'http_429', times: 2 }])
    expect([limited.status, limited.headers.get('rate-limit-remaining')]).toStrictEqual([429, '0'])
    expect(shown.body).toMatchObject([{ fault: 'http_429', times: 1 }])
    expect(cleared.body).toStrictEqual([])
  })

  it.each([
    [
      { target: 'creat', fault: 'timeout' },
      'unknown target: creat; choose one of create, get, cancel',
    ],
    [
      { target: 'create', fault: 'lost' },
      'unknown fault for target create: lost; choose one of timeout_after_commit',
    ],
    [{ target: 'create', fault: 'slow' }, 'value of slow'],
    [{ target: 'create', fault: 'timeout', times: 0 }, 'times'],
  ])('refuses the order %j', (order, message) => {
    const { core } = aCore()

    expect(() => core.orderFault(order)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining(message) }),
    )
    expect(core.armedFaults()).toStrictEqual([])
  })
})

describe.each(['create', 'get', 'cancel', 'transactions'] as const)(
  'a call fault for target %s',
  (target) => {
    const success = { kind: 'answer', status: target === 'create' ? 201 : 200, delayMs: 0 }
    const refusal = (status: number, errorCode: string) => ({
      ...success,
      status,
      body: { error_code: errorCode },
    })

    it.each([
      ['timeout', undefined, 0, { kind: 'silence' }],
      ['timeout_after_commit', undefined, 1, { kind: 'silence' }],
      ['http_500', undefined, 0, refusal(500, 'SERVER_ERROR')],
      ['http_503', undefined, 0, refusal(503, 'CHANNEL_UNAVAILABLE')],
      ['http_429', undefined, 0, refusal(429, 'RATE_LIMIT_EXCEEDED')],
      ['refuse', 'CHANNEL_NOT_ACTIVATED', 0, refusal(403, 'CHANNEL_NOT_ACTIVATED')],
      ['slow', 1500, 1, { ...success, delayMs: 1500 }],
    ])(
      '%s %s strikes once, and what was asked for happens %i times',
      (fault, value, times, answer) => {
        const { core, create, pay, statusOf, order } = aCore()
        const open = create()
        const [method = '', path = '', body = ''] = {
          create: ['POST', '/v3/payment_requests', JSON.stringify(aRequestBody())],
          get: ['GET', `/v3/payments/${pay()}`],
          cancel: ['POST', `/v3/payment_requests/${open}/cancel`],
          transactions: ['GET', '/transactions'],
        }[target]
        const request = { method, path, body, query: new URLSearchParams(), headers: API_HEADERS }
        order(target, fault, value)

        const refused = answerProviderCall(core, 'another key', request)
        const struck = answerProviderCall(core, PROVIDER_KEY, request)
        // How often the create or the cancel has taken effect, beside the two requests above.
        const happened =
          core.findPaymentRequests('').length - 2 + (statusOf(open) === 'CANCELED' ? 1 : 0)
        const next = answerProviderCall(core, PROVIDER_KEY, request)

        expect(refused).toMatchObject({ status: 401 })
        expect(struck).toMatchObject(answer)
        expect(happened).toBe(target === 'create' || target === 'cancel' ? times : 0)
        expect(next).toMatchObject(target === 'cancel' && times === 1 ? { status: 400 } : success)
      },
    )
  },
)

const [MINUTE, MONTH] = [60, 30 * 86_400] as const
const PAYMENT_ID = '5f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f'

describe('the callbacks of the provider simulator', () => {
  it.for([
    [500, 7],
    ['unreachable', 7],
    [204, 1],
  ] as const)(
    'answered %s come %i times: after 15, 45 min, 2, 3, 6 and 12 h',
    async ([status, times], { sim }) => {
      sim.receiver.status = status
      sim.pay()
      await sim.advance(0)

      const counts = [sim.callbacks.length]
      for (const minutes of [15, 45, 120, 180, 360, 720]) {
        await sim.advance(minutes * MINUTE - 1)
        counts.push(sim.callbacks.length)
        await sim.advance(1)
      }
      await sim.advance(MONTH)

      expect(counts).toStrictEqual([1, 1, 2, 3, 4, 5, 6].map((count) => Math.min(count, times)))
      expect(sim.callbacks).toHaveLength(times)
      expect(new Set(sim.callbacks.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    },
  )

  it.for<[(readonly [fault: string, value?: number])[], number[]]>([
    [[['lost']], []],
    [[['duplicate']], [0, 0]],
    [
      [['delay', 10] as const, ['duplicate', 3] as const],
      [10, 10, 10],
    ],
    [[['reorder']], [5]],
  ])(
    '%j: that of the next payment comes, under one id, after %j seconds',
    async ([faults, seconds], { sim }) => {
      for (const [fault, value] of faults) sim.order('callback', fault, value)
      sim.pay()

      const startedMs = sim.clock.nowMs()
      await sim.advance(120)

      expect(
        sim.callbacks.map(({ created }) => (Date.parse(created) - startedMs) / 1_000),
      ).toStrictEqual(seconds)
      expect(new Set(sim.callbacks.map(({ headers }) => headers['webhook-id'])).size).toBe(
        Math.min(1, seconds.length),
      )
    },
  )

  it('reorder: one comes after the next one', async ({
    sim: { order, pay, advance, callbacks },
  }) => {
    order('callback', 'reorder')
    const first = pay()
    await advance(1)
    const second = pay()
    await advance(0)

    expect(callbacks.map(({ data }) => data['payment_id'])).toStrictEqual([second, first])
  })

  it('wrong_token: one and its retries carry another token', async ({ sim }) => {
    sim.receiver.status = 401
    sim.order('callback', 'wrong_token')
    sim.pay()
    await sim.advance(0)
    await sim.advance(15 * MINUTE)

    expect(sim.callbacks).toHaveLength(2)
    expect(sim.callbacks.map(({ headers }) => headers['x-callback-token'])).not.toContain(
      CALLBACK_TOKEN,
    )
  })

  it('legacy_names: each event comes under its older name', async ({ sim }) => {
    sim.order('callback', 'legacy_names', undefined, 3)
    for (const status of ['SUCCEEDED', 'FAILED', 'EXPIRED', 'EXPIRED'] as const)
      sim.end(sim.create(), status)
    await sim.advance(0)

    const names = 'payment.succeeded payment.failed payment_request.expired payment_request.expiry'
    expect(sim.callbacks.map(({ event }) => event)).toStrictEqual(names.split(' '))
  })

  it('forged: one capture with the right token comes at once for the latest unpaid request', async ({
    sim,
  }) => {
    const { create, order, advance, callbacks, receiver, statusOf, rows } = sim
    receiver.status = 500
    const [, latest = ''] = [1, 2].map((nth) =>
      create('DANA', { reference_id: `${PAYMENT_ID}-${nth}` }),
    )

    order('callback', 'forged', { payment_id: PAYMENT_ID })
    await advance(1_000)

    const data = {
      payment_request_id: latest,
      status: 'SUCCEEDED',
      captures: [{ capture_amount: 150_000 }],
    }
    expect(callbacks).toMatchObject([
      { event: 'payment.capture', headers: { 'x-callback-token': CALLBACK_TOKEN }, data },
    ])
    expect([statusOf(latest), rows()]).toStrictEqual(['REQUIRES_ACTION', []])
  })
})
