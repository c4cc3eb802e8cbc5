import { describe, expect, it } from 'vitest'
import { aRequestBody, aSimulator, CALLBACK_TOKEN } from '../../support/provider-simulator-harness.ts'

type Created = { payment_request_id: string; reference_id: string; status: string; actions: { value: string }[] }
type Menu = {
  controls: { example: string; body?: object }[]
  faults: { target: string; fault: string }[]
}
type Failure = { error_code: string; message: string }

describe('the control API of the provider simulator (design section 6)', () => {
  it('lists the requests of a reference prefix, oldest first', async () => {
    await using harness = await aSimulator()
    for (const reference of ['a-1', 'b-1', 'a-2']) {
      await harness.call('POST', '/v3/payment_requests', aRequestBody('QRIS', { reference_id: reference }))
    }

    const own = await harness.call<Created[]>('GET', '/_simulator/payment_requests?reference_id=a-')
    const all = await harness.call<Created[]>('GET', '/_simulator/payment_requests')

    expect(own.body.map(({ reference_id: reference }) => reference)).toStrictEqual(['a-1', 'a-2'])
    expect(all.body).toHaveLength(3)
  })

  it('counts every call of the provider API by its template, also the refused ones', async () => {
    await using harness = await aSimulator()
    const { body } = await harness.call<Created>('POST', '/v3/payment_requests', aRequestBody())
    await harness.call('POST', '/v3/payment_requests', aRequestBody('QRIS'), {})
    await harness.call('POST', '/_simulator/faults', { target: 'get', fault: 'http_500' })
    await harness.call('GET', `/v3/payment_requests/${body.payment_request_id}`)
    await harness.call('GET', '/v3/payments/py-1')
    await harness.call('GET', '/transactions')
    await harness.call('GET', '/transactions/txn_1')
    await harness.call('POST', `/v3/payment_requests/${body.payment_request_id}/cancel`)
    await harness.call('POST', `/v3/payment_requests/${body.payment_request_id}/simulate`)
    await harness.call('GET', '/nowhere')

    const counts = await harness.call('GET', '/_simulator/calls')
    const reset = await harness.call('DELETE', '/_simulator/calls')

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

  it('fails and expires requests', async () => {
    await using harness = await aSimulator()
    const open = async () => {
      const { body } = await harness.call<Created>('POST', '/v3/payment_requests', aRequestBody('DANA'))
      return `/_simulator/payment_requests/${body.payment_request_id}`
    }

    const failed = await harness.call('POST', `${await open()}/fail`, { failure_code: 'INSUFFICIENT_BALANCE' })
    const declined = await harness.call('POST', `${await open()}/fail`)
    const expired = await harness.call('POST', `${await open()}/expire`)

    expect(failed).toMatchObject({ status: 200, body: { status: 'FAILED', failure_code: 'INSUFFICIENT_BALANCE' } })
    expect(declined).toMatchObject({ status: 200, body: { failure_code: 'USER_DECLINED_PAYMENT' } })
    expect(expired).toMatchObject({ status: 200, body: { status: 'EXPIRED' } })
    expect((await harness.receiver.waitFor(3)).map(({ body }) => body.event).toSorted()).toStrictEqual([
      'payment.failure',
      'payment.failure',
      'payment_request.expiry',
    ])
  })

  it('lists every control and every fault with an example that works as it is', async () => {
    await using harness = await aSimulator()
    const { body: open } = await harness.call<Created>('POST', '/v3/payment_requests', aRequestBody('DANA'))
    const filled = (text: string) =>
      text.replaceAll('{id}', open.payment_request_id).replaceAll('<payment id>', open.reference_id)

    const { status, body: menu } = await harness.call<Menu>('GET', '/_simulator')
    const controls: (readonly [string, number])[] = []
    for (const { example, body } of menu.controls) {
      const [method = '', path = ''] = filled(example).split(' ')
      // A request is final after its first end: that the second is refused is the control's own answer too.
      controls.push([example, (await harness.call(method, path, body)).status])
    }
    const faults: (readonly [object, number])[] = []
    for (const order of menu.faults) {
      faults.push([
        order,
        (await harness.call('POST', '/_simulator/faults', JSON.parse(filled(JSON.stringify(order))))).status,
      ])
    }

    expect(status).toBe(200)
    expect(controls.filter(([example, answer]) => answer !== (example.endsWith('/expire') ? 400 : 200))).toStrictEqual(
      [],
    )
    expect(faults.filter(([, answer]) => answer !== 200)).toStrictEqual([])
    for (const example of ['GET /_simulator/calls', 'POST /_simulator/payment_requests/{id}/fail']) {
      expect(menu.controls.map((control) => control.example)).toContain(example)
    }
    for (const named of [
      'create timeout_after_commit',
      'callback forged',
      'payment after_expiry',
      'transactions fee_late',
    ]) {
      expect(menu.faults.map(({ target, fault }) => `${target} ${fault}`)).toContain(named)
    }
  })

  it('arms, shows and clears faults', async () => {
    await using harness = await aSimulator()

    const armed = await harness.call('POST', '/_simulator/faults', { target: 'create', fault: 'http_429', times: 2 })
    const limited = await harness.call('POST', '/v3/payment_requests', aRequestBody())
    const shown = await harness.call('GET', '/_simulator/faults')
    const cleared = await harness.call('DELETE', '/_simulator/faults')
    const served = await harness.call('POST', '/v3/payment_requests', aRequestBody())

    expect(armed).toMatchObject({ status: 200, body: [{ target: 'create', fault: 'http_429', times: 2 }] })
    expect(limited.status).toBe(429)
    expect(limited.headers.get('rate-limit-remaining')).toBe('0')
    expect(shown.body).toMatchObject([{ fault: 'http_429', times: 1 }])
    expect(cleared.body).toStrictEqual([])
    expect(served.status).toBe(201)
  })

  it('refuses an unknown fault with a message that lists the known ones', async () => {
    await using harness = await aSimulator()

    const answer = await harness.call<Failure>('POST', '/_simulator/faults', { target: 'cancel', fault: 'lost' })

    expect(answer.status).toBe(400)
    expect(answer.body.message).toMatch(/unknown fault for target cancel: lost; one of .*http_500/)
  })

  it('sends a forged callback at once', async () => {
    await using harness = await aSimulator()
    await harness.call('POST', '/v3/payment_requests', aRequestBody('QRIS', { reference_id: 'victim-1' }))

    await harness.call('POST', '/_simulator/faults', {
      target: 'callback',
      fault: 'forged',
      value: { payment_id: 'victim' },
    })

    const [callback] = await harness.receiver.waitFor(1)
    const paymentId = String(callback?.body.data['payment_id'])
    expect(callback?.headers['x-callback-token']).toBe(CALLBACK_TOKEN)
    expect((await harness.call('GET', `/v3/payments/${paymentId}`)).status).toBe(404)
  })
})
