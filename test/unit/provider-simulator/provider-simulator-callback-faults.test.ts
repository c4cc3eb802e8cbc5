import { describe, expect } from 'vitest'
import { CALLBACK_TOKEN, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const PAYMENT_ID = '5f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f'

describe('the callback faults of the provider simulator', () => {
  it.for<[string, (readonly [fault: string, value?: number])[], number[]]>([
    ['lost', [['lost']], []],
    ['duplicate', [['duplicate']], [0, 0]],
    ['duplicate 5', [['duplicate', 5]], [0, 0, 0, 0, 0]],
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

  it('reorder: the callback comes after the next one', async ({ sim: { order, pay, advance, callbacks } }) => {
    order('callback', 'reorder')
    const first = pay()
    await advance(1)
    const second = pay()
    await advance(0)

    expect(callbacks.map(({ data }) => data['payment_id'])).toStrictEqual([second, first])
  })

  it('wrong_token: the callback and its retries carry another token', async ({ sim }) => {
    sim.receiver.status = 401
    sim.order('callback', 'wrong_token')
    sim.pay()
    await sim.advance(0)
    await sim.advance(15 * 60)

    const tokens = sim.callbacks.map(({ headers }) => headers['x-callback-token'])
    expect(tokens).toHaveLength(2)
    expect(tokens).not.toContain(CALLBACK_TOKEN)
  })

  it('legacy_names: each event comes under its older name', async ({ sim }) => {
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

  it('forged: a capture with the right token comes at once for the latest unpaid request, unknown upstream', async ({
    sim: { core, create, order, advance, callbacks, receiver, statusOf, rows },
  }) => {
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
  })

  it('forged: is refused for a payment the provider has no request for', ({ sim: { order } }) => {
    const forge = () => order('callback', 'forged', { payment_id: 'nobody' })

    expect(forge).toThrow(expect.objectContaining({ status: 404 }))
  })
})
