import { describe, expect, it } from 'vitest'
import { aCore, aRequestBody, CALLBACK_TOKEN } from '../../support/provider-simulator-harness.ts'

type Core = ReturnType<typeof aCore>['core']

const create = (core: Core, overrides: Record<string, unknown> = {}) =>
  core.createPaymentRequest(aRequestBody('DANA', overrides)).payment_request_id

const rows = (core: Core, paymentId?: string) =>
  core.listTransactions(new URLSearchParams(paymentId === undefined ? {} : { product_id: paymentId })).data

const pay = (core: Core, id = create(core)) => {
  core.simulatePayment(id)
  return core.getPaymentRequest(id).latest_payment_id ?? ''
}

describe('the callback faults of the provider simulator', () => {
  it('lost: that callback never comes, the next one does', async () => {
    const { core, advance, callbacks } = aCore()
    core.orderFault({ target: 'callback', fault: 'lost' })
    pay(core)
    await advance(7 * 86_400)

    const second = pay(core)
    await advance(0)

    expect(callbacks).toMatchObject([{ event: 'payment.capture', data: { payment_id: second } }])
  })

  it.each([
    [undefined, 2],
    [5, 5],
  ])('duplicate %s: one callback comes %i times under one webhook id', async (value, count) => {
    const { core, advance, callbacks } = aCore()
    core.orderFault({ target: 'callback', fault: 'duplicate', value })

    pay(core)
    await advance(0)

    expect(callbacks).toHaveLength(count)
    expect(
      new Set(callbacks.map(({ headers, data }) => `${headers['webhook-id']} ${String(data['payment_id'])}`)).size,
    ).toBe(1)
  })

  it('delay: the callback comes that many seconds later on the clock', async () => {
    const { core, advance, callbacks } = aCore()
    core.orderFault({ target: 'callback', fault: 'delay', value: 90 })
    pay(core)

    await advance(89)
    const early = callbacks.length
    await advance(1)

    expect([early, callbacks.length]).toStrictEqual([0, 1])
  })

  it('reorder: the callback comes after the next one', async () => {
    const { core, advance, callbacks } = aCore()
    core.orderFault({ target: 'callback', fault: 'reorder' })
    const first = pay(core)
    await advance(1)
    const second = pay(core)
    await advance(0)

    expect(callbacks.map(({ data }) => data['payment_id'])).toStrictEqual([second, first])
  })

  it('reorder: the callback waits no longer than 5 seconds for another', async () => {
    const { core, advance, callbacks } = aCore()
    core.orderFault({ target: 'callback', fault: 'reorder' })
    pay(core)

    await advance(4.999)
    const counts = [callbacks.length]
    await advance(0.001)
    counts.push(callbacks.length)
    await advance(60)
    counts.push(callbacks.length)

    expect(counts).toStrictEqual([0, 1, 1])
  })

  it('wrong_token: the callback and its retries carry another token', async () => {
    const { core, advance, callbacks, receiver } = aCore()
    receiver.status = 401
    core.orderFault({ target: 'callback', fault: 'wrong_token' })
    pay(core)
    await advance(0)
    await advance(15 * 60)

    const tokens = callbacks.map(({ headers }) => headers['x-callback-token'])
    expect(tokens).toHaveLength(2)
    expect(tokens).not.toContain(CALLBACK_TOKEN)
  })

  it('legacy_names: each event comes under its older name', async () => {
    const { core, advance, callbacks } = aCore()
    core.orderFault({ target: 'callback', fault: 'legacy_names', times: 3 })
    core.simulatePayment(create(core))
    core.failPaymentRequest(create(core))
    core.expirePaymentRequest(create(core))
    core.expirePaymentRequest(create(core))
    await advance(0)

    expect(callbacks.map(({ event }) => event)).toStrictEqual([
      'payment.succeeded',
      'payment.failed',
      'payment_request.expired',
      'payment_request.expiry',
    ])
  })

  it('forged: a capture with the right token comes at once for the latest unpaid request, unknown upstream', async () => {
    const { core, advance, callbacks, receiver } = aCore()
    receiver.status = 500
    const paymentId = '5f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f'
    create(core, { reference_id: `${paymentId}-1` })
    const latest = create(core, { reference_id: `${paymentId}-2` })
    create(core, { reference_id: '6f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1' })

    core.orderFault({ target: 'callback', fault: 'forged', value: { payment_id: paymentId } })
    await advance(0)
    await advance(86_000)

    const forgeries = callbacks.filter(({ event }) => event === 'payment.capture')
    expect(forgeries).toMatchObject([
      {
        headers: { 'x-callback-token': CALLBACK_TOKEN },
        data: {
          reference_id: `${paymentId}-2`,
          payment_request_id: latest,
          payment_id: expect.stringMatching(/^py-/),
          status: 'SUCCEEDED',
          captures: [{ capture_amount: 150_000 }],
        },
      },
    ])
    expect(() => core.getPayment(String(forgeries[0]?.data['payment_id']))).toThrow(
      expect.objectContaining({ status: 404 }),
    )
    expect(core.getPaymentRequest(latest)).toMatchObject({ status: 'REQUIRES_ACTION' })
    expect(rows(core)).toStrictEqual([])
  })

  it('forged: is refused for a payment the provider has no request for', () => {
    const { core } = aCore()

    const order = () => core.orderFault({ target: 'callback', fault: 'forged', value: { payment_id: 'nobody' } })

    expect(order).toThrow(expect.objectContaining({ status: 404 }))
  })

  it('combine on one callback', async () => {
    const { core, advance, callbacks } = aCore()
    core.orderFault({ target: 'callback', fault: 'delay', value: 10 })
    core.orderFault({ target: 'callback', fault: 'duplicate', value: 3 })
    pay(core)

    await advance(9)
    const early = callbacks.length
    await advance(1)

    expect([early, callbacks.length]).toStrictEqual([0, 3])
  })
})
