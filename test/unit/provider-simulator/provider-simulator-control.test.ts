import { describe, expect } from 'vitest'
import { aRequestBody, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

type Menu = {
  controls: { example: string; body?: object }[]
  faults: { target: string; fault: string }[]
}

describe('the control API of the provider simulator (design section 6)', () => {
  it('lists the requests of a reference prefix, oldest first', async ({ running: { create, created } }) => {
    for (const reference of ['a-1', 'b-1', 'a-2']) await create('QRIS', { reference_id: reference })

    const own = await created('a-')

    expect(own.map(({ reference_id: reference }) => reference)).toStrictEqual(['a-1', 'a-2'])
    expect(await created()).toHaveLength(3)
  })

  it('counts every call of the provider API by its template, also the refused ones', async ({ running }) => {
    const { call, create, order } = running
    const { path } = await create()
    await call('POST', '/v3/payment_requests', aRequestBody('QRIS'), {})
    await order('get', 'http_500')
    for (const get of [path, '/v3/payments/py-1', '/transactions', '/transactions/txn_1', '/nowhere'])
      await call('GET', get)
    for (const action of ['cancel', 'simulate']) await call('POST', `${path}/${action}`)

    const counts = await call('GET', '/_simulator/calls')
    const reset = await call('DELETE', '/_simulator/calls')

    expect(counts.body).toStrictEqual({
      'POST /v3/payment_requests': 2,
      'GET /v3/payment_requests/{id}': 1,
      'GET /v3/payments/{id}': 1,
      'GET /transactions': 1,
      'GET /transactions/{id}': 1,
      'POST /v3/payment_requests/{id}/cancel': 1,
      'POST /v3/payment_requests/{id}/simulate': 1,
    })
    expect(reset.body).toStrictEqual({})
  })

  it('lists every control and every fault with an example that works as it is', async ({
    running: { call, create },
  }) => {
    const open = await create('DANA')
    const filled = (text: string) =>
      text.replaceAll('{id}', open.payment_request_id).replaceAll('<payment id>', open.reference_id)

    const { status, body: menu } = await call<Menu>('GET', '/_simulator')
    const answers: (readonly [unknown, number])[] = []
    for (const { example, body } of menu.controls) {
      const [method = '', path = ''] = filled(example).split(' ')
      // A request is final after its first end, and nothing was paid on it: such a refusal is the control's own answer too.
      const expected = /\/(?:expire|reverse)$/.test(example) ? 400 : 200
      answers.push([example, (await call(method, path, body)).status - expected])
    }
    for (const order of menu.faults) {
      answers.push([order, (await call('POST', '/_simulator/faults', filled(JSON.stringify(order)))).status - 200])
    }

    expect(status).toBe(200)
    expect(answers.filter(([, difference]) => difference !== 0)).toStrictEqual([])
    expect(menu.controls.map(({ example }) => example)).toEqual(
      expect.arrayContaining(['GET /_simulator/calls', 'POST /_simulator/payment_requests/{id}/fail']),
    )
    expect(menu.faults.map(({ target, fault }) => `${target} ${fault}`)).toEqual(
      expect.arrayContaining([
        'create timeout_after_commit',
        'callback forged',
        'payment after_expiry',
        'transactions fee_late',
      ]),
    )
  })

  it('arms, shows and clears faults', async ({ running: { call, order } }) => {
    const armed = await order('create', 'http_429', undefined, 2)
    const limited = await call('POST', '/v3/payment_requests', aRequestBody())
    await order('get', 'http_429')
    const shown = await call('DELETE', '/_simulator/faults?target=get&fault=http_429')
    const cleared = await call('DELETE', '/_simulator/faults')
    const served = await call('POST', '/v3/payment_requests', aRequestBody())

    expect(armed).toMatchObject({ status: 200, body: [{ target: 'create', fault: 'http_429', times: 2 }] })
    expect(limited.status).toBe(429)
    expect(limited.headers.get('rate-limit-remaining')).toBe('0')
    expect(shown.body).toMatchObject([{ fault: 'http_429', times: 1 }])
    expect(cleared.body).toStrictEqual([])
    expect(served.status).toBe(201)
  })
})

describe('the checkout page of the provider simulator', () => {
  it('shows the amount and a Pay button under the URL of the action', async ({ running: { create } }) => {
    const { actions } = await create('DANA', { reference_id: '<script>alert(1)</script>' })

    const page = await fetch(actions[0]?.value ?? '')

    const html = await page.text()
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html).toContain('150.000')
    expect(html).toContain('<form method="post">')
    expect(html).not.toContain('<script>')
  })

  it('pays on the button and goes back to the merchant', async ({ running: { call, create, receiver } }) => {
    const { path, payment_request_id: id } = await create('DANA')

    const answer = await call('POST', `/checkout/${id}`)

    expect([answer.status, answer.headers.get('location')]).toStrictEqual([303, 'https://merchant.example/done'])
    expect((await call('GET', path)).body['status']).toBe('SUCCEEDED')
    expect(await receiver.waitFor(1)).toMatchObject([{ body: { event: 'payment.capture' } }])
  })
})
