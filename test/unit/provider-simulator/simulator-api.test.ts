import { describe, expect } from 'vitest'
import { aCore, aRequestBody, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

type Menu = {
  controls: { example: string; body?: object }[]
  faults: { target: string; fault: string }[]
}

describe('the control API of the provider simulator (design section 6)', () => {
  it('lists every control and fault with an example that works as it is', async ({ running }) => {
    const { call, create } = running
    const open = await create('DANA')
    const filled = (text: string) =>
      text.replaceAll('{id}', open.payment_request_id).replaceAll('<payment id>', open.reference_id)

    const { body: menu } = await call<Menu>('GET', '/_simulator')
    const answers: (readonly [unknown, number])[] = []
    for (const { example, body } of menu.controls) {
      const [method = '', path = ''] = filled(example).split(' ')
      // The request is final and unpaid, so these controls refuse.
      const expected = /\/(?:expire|reverse|deduct)$/.test(example) ? 400 : 200
      answers.push([example, (await call(method, path, body)).status - expected])
    }
    for (const order of menu.faults) {
      answers.push([
        order,
        (await call('POST', '/_simulator/faults', filled(JSON.stringify(order)))).status - 200,
      ])
    }

    expect(answers.filter(([, difference]) => difference !== 0)).toStrictEqual([])
    expect([menu.controls.length, menu.faults.length]).toStrictEqual([14, 47])
  })

  it('arms, shows and clears faults, each for as often as ordered', async ({
    running: { call, order },
  }) => {
    const armed = await order('transactions', 'http_429', undefined, 2)
    const limited = await call('GET', '/transactions')
    await order('get', 'http_429')
    const shown = await call('DELETE', '/_simulator/faults?target=get&fault=http_429')
    const cleared = await call('DELETE', '/_simulator/faults')

    expect(armed.body).toMatchObject([{ target: 'transactions', fault: 'http_429', times: 2 }])
    expect([limited.status, limited.headers.get('rate-limit-remaining')]).toStrictEqual([429, '0'])
    expect(shown.body).toMatchObject([{ fault: 'http_429', times: 1 }])
    expect(cleared.body).toStrictEqual([])
  })

  it('admits as many calls of an endpoint in any 60 seconds as the account allows', async () => {
    const { core, advance, ask } = aCore()
    core.setAccount({ calls_per_minute: 2 })
    const list = () => ask('GET', '/transactions')
    const limited = (remaining: string, reset: string, status: number) => ({
      status,
      headers: {
        'Rate-Limit-Limit': '2',
        'Rate-Limit-Remaining': remaining,
        'Rate-Limit-Reset': reset,
      },
    })

    expect(list()).toMatchObject(limited('1', '60.000', 200))
    await advance(20)
    expect(list()).toMatchObject(limited('0', '40.000', 200))
    expect(list()).toMatchObject(limited('0', '40.000', 429))
    expect(ask('GET', '/balance')).toMatchObject(limited('1', '60.000', 200))
    await advance(40)
    expect(list()).toMatchObject(limited('0', '20.000', 200))
  })

  it.each([
    ['money_in', 'GET', '/v3/payment_requests/pr-1'],
    ['transactions', 'GET', '/transactions'],
    ['money_out', 'GET', '/balance'],
  ])('refuses a key without the permission %s: %s %s', async (missing, method, path) => {
    const { core, ask } = aCore()
    const permissions = core.account().permissions.filter((name) => name !== missing)
    core.setAccount({ permissions })

    expect(ask(method, path)).toMatchObject({
      status: 403,
      body: { error_code: 'REQUEST_FORBIDDEN_ERROR' },
    })
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
      ['refuse', 'INVALID_MERCHANT_SETTINGS', 0, refusal(403, 'INVALID_MERCHANT_SETTINGS')],
      ['slow', 1500, 1, { ...success, delayMs: 1500 }],
    ])('%s %s strikes once, and the call takes effect %i times', (fault, value, times, answer) => {
      const { core, create, pay, statusOf, order, ask } = aCore()
      const open = create()
      const [method = '', path = '', body] = {
        create: ['POST', '/v3/payment_requests', JSON.stringify(aRequestBody())],
        get: ['GET', `/v3/payments/${pay()}`],
        cancel: ['POST', `/v3/payment_requests/${open}/cancel`],
        transactions: ['GET', '/transactions'],
      }[target]
      order(target, fault, value)

      const refused = ask(method, path, body, 'xnd_development_other')
      const struck = ask(method, path, body)
      // How often the create or the cancel has taken effect, beside the two requests above.
      const happened =
        core.findPaymentRequests('').length - 2 + (statusOf(open) === 'CANCELED' ? 1 : 0)
      const next = ask(method, path, body)

      expect(refused).toMatchObject({ status: 401 })
      expect(struck).toMatchObject(answer)
      expect(happened).toBe(target === 'create' || target === 'cancel' ? times : 0)
      expect(next).toMatchObject(target === 'cancel' && times === 1 ? { status: 400 } : success)
    })
  },
)
