import { describe, expect } from 'vitest'
import { CALLBACK_TOKEN } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const [MINUTE, MONTH] = [60, 30 * 86_400] as const
const PAYMENT_ID = '5f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f'

describe('the callbacks of the provider simulator', () => {
  it.for([500, 'unreachable'] as const)(
    'come again after 15 min, 45 min, 2 h, 3 h, 6 h and 12 h when the answer is %s, then never',
    async (status, { sim: { clock, pay, advance, callbacks, receiver } }) => {
      receiver.status = status
      pay()
      await advance(0)
      const counts = [callbacks.length]

      for (const minutes of [15, 45, 120, 180, 360, 720]) {
        await advance(minutes * MINUTE - 1)
        counts.push(callbacks.length)
        await advance(1)
        counts.push(callbacks.length)
      }
      await advance(MONTH)

      expect(counts).toStrictEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7])
      expect(callbacks).toHaveLength(7)
      expect(new Set(callbacks.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(callbacks.map(({ created }) => created)).size).toBe(7)
      expect(await clock.step()).toBe(false)
    },
  )

  it('stop at the first 2xx', async ({ sim: { pay, advance, callbacks, receiver } }) => {
    receiver.status = 503
    pay()
    await advance(0)

    receiver.status = 204
    await advance(15 * MINUTE)
    await advance(MONTH)

    expect(callbacks).toHaveLength(2)
  })

  it.for<[(readonly [fault: string, value?: number])[], number[]]>([
    [[['lost']], []],
    [[['duplicate']], [0, 0]],
    [[['delay', 90]], [90]],
    [
      [['delay', 10] as const, ['duplicate', 3] as const],
      [10, 10, 10],
    ],
    [[['reorder']], [5]],
  ])(
    '%j: that of the next payment comes, under one webhook id, after %j seconds',
    async ([faults, seconds], { sim }) => {
      for (const [fault, value] of faults) sim.order('callback', fault, value)
      sim.pay()

      const startedMs = sim.clock.nowMs()
      await sim.advance(120)

      expect(sim.callbacks.map(({ created }) => (Date.parse(created) - startedMs) / 1_000)).toStrictEqual(seconds)
      expect(new Set(sim.callbacks.map(({ headers }) => headers['webhook-id'])).size).toBe(Math.min(1, seconds.length))
    },
  )

  it('reorder: one comes after the next one', async ({ sim: { order, pay, advance, callbacks } }) => {
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

    const tokens = sim.callbacks.map(({ headers }) => headers['x-callback-token'])
    expect(tokens).toHaveLength(2)
    expect(tokens).not.toContain(CALLBACK_TOKEN)
  })

  it('legacy_names: each event comes under its older name', async ({ sim }) => {
    sim.order('callback', 'legacy_names', undefined, 3)
    for (const status of ['SUCCEEDED', 'FAILED', 'EXPIRED', 'EXPIRED'] as const) sim.end(sim.create(), status)
    await sim.advance(0)

    const names = 'payment.succeeded payment.failed payment_request.expired payment_request.expiry'
    expect(sim.callbacks.map(({ event }) => event)).toStrictEqual(names.split(' '))
  })

  it('forged: a capture with the right token comes at once for the latest unpaid request', async ({ sim }) => {
    const { core, create, order, advance, callbacks, receiver, statusOf, rows } = sim
    receiver.status = 500
    const [, latest = ''] = [1, 2].map((nth) => create('DANA', { reference_id: `${PAYMENT_ID}-${nth}` }))
    create('DANA', { reference_id: '6f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1' })

    order('callback', 'forged', { payment_id: PAYMENT_ID })
    await advance(0)
    await advance(86_000)

    const forgeries = callbacks.filter(({ event }) => event === 'payment.capture')
    const data = {
      reference_id: `${PAYMENT_ID}-2`,
      payment_request_id: latest,
      payment_id: expect.stringMatching(/^py-/),
      status: 'SUCCEEDED',
      captures: [{ capture_amount: 150_000 }],
    }
    expect(forgeries).toMatchObject([{ headers: { 'x-callback-token': CALLBACK_TOKEN }, data }])
    const unknown = () => core.getPayment(String(forgeries[0]?.data['payment_id']))
    expect(unknown).toThrow(expect.objectContaining({ status: 404 }))
    expect(statusOf(latest)).toBe('REQUIRES_ACTION')
    expect(rows()).toStrictEqual([])
  })
})
