import { describe, expect } from 'vitest'
import { CALLBACK_TOKEN } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { type aCore, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const [MINUTE, MONTH] = [60, 30 * 86_400]
const PAYMENT_ID = '5f2d7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f'

function webhookIds({ callbacks }: Pick<ReturnType<typeof aCore>, 'callbacks'>) {
  return new Set(callbacks.map(({ headers }) => headers['webhook-id'])).size
}

describe('the callbacks of the provider simulator', () => {
  it.for([
    [500, 7],
    ['unreachable', 7],
    [204, 1],
  ] as const)(
    'answered with %s come %i times: after 15, 45 min, 2, 3, 6 and 12 h',
    async ([status, times], { sim }) => {
      sim.receiver.status = status
      sim.pay()

      const counts = [sim.callbacks.length]
      for (const minutes of [15, 45, 120, 180, 360, 720]) {
        await sim.advance(minutes * MINUTE - 1)
        counts.push(sim.callbacks.length)
        await sim.advance(1)
      }
      await sim.advance(MONTH)

      expect(counts).toStrictEqual([1, 1, 2, 3, 4, 5, 6].map((count) => Math.min(count, times)))
      expect(sim.callbacks).toHaveLength(times)
      expect(webhookIds(sim)).toBe(1)
    },
  )

  it.for<[(readonly [fault: string, value?: number])[], number[]]>([
    [[['lost']], []],
    [[['duplicate']], [0, 0]],
    [
      [
        ['delay', 10],
        ['duplicate', 3],
      ],
      [10, 10, 10],
    ],
    [[['reorder']], [5]],
  ])(
    'with the faults %j the callback of the next payment comes under one id after %j seconds',
    async ([faults, seconds], { sim }) => {
      for (const [fault, value] of faults) sim.order('callback', fault, value)
      sim.pay()

      const startedMs = sim.clock.nowMs()
      await sim.advance(120)

      expect(
        sim.callbacks.map(({ created }) => (Date.parse(created) - startedMs) / 1_000),
      ).toStrictEqual(seconds)
      expect(webhookIds(sim)).toBe(Math.min(1, seconds.length))
    },
  )

  it('with the fault reorder a callback comes after the next callback', async ({
    sim: { order, pay, advance, callbacks },
  }) => {
    order('callback', 'reorder')
    const first = pay()
    const second = pay()
    await advance(0)

    expect(callbacks.map(({ data }) => data['payment_id'])).toStrictEqual([second, first])
  })

  it('with the fault wrong_token a callback and its retries carry another token', async ({
    sim,
  }) => {
    sim.receiver.status = 401
    sim.order('callback', 'wrong_token')
    sim.pay()
    await sim.advance(15 * MINUTE)

    expect(sim.callbacks).toHaveLength(2)
    expect(sim.callbacks.map(({ headers }) => headers['x-callback-token'])).not.toContain(
      CALLBACK_TOKEN,
    )
  })

  it('with the fault legacy_names each event has its older name', async ({ sim }) => {
    sim.order('callback', 'legacy_names', undefined, 3)
    for (const status of ['SUCCEEDED', 'FAILED', 'EXPIRED', 'EXPIRED'] as const)
      sim.end(sim.create(), status)
    await sim.advance(0)

    const names = 'payment.succeeded payment.failed payment_request.expired payment_request.expiry'
    expect(sim.callbacks.map(({ event }) => event)).toStrictEqual(names.split(' '))
  })

  it('with the fault forged a capture with the right token comes at once for the latest unpaid request', async ({
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
    const headers = { 'x-callback-token': CALLBACK_TOKEN }
    const created = '2026-11-20T04:10:00.000Z'
    expect(callbacks).toMatchObject([{ created, event: 'payment.capture', headers, data }])
    expect([statusOf(latest), rows()]).toStrictEqual(['REQUIRES_ACTION', []])
  })

  it('tells of disputes whose money is deducted once a month, in one row without an id', async ({
    sim,
  }) => {
    for (const amount of [1_000, 2_000]) {
      const id = sim.create('QRIS')
      sim.pay(id)
      sim.core.reversePayment(id, { kind: 'chargeback', deducted: 'monthly', amount })
    }

    sim.core.deductDisputes()

    expect(sim.callbacks.filter(({ event }) => event === 'dispute.action_required')).toHaveLength(2)
    expect(sim.rows({ statuses: 'SUCCESS' })).toMatchObject([
      { amount: 3_000, product_id: '', reference_id: 'disputes-2026-11', cashflow: 'MONEY_OUT' },
      { type: 'PAYMENT' },
      { type: 'PAYMENT' },
    ])
    expect(sim.core.deductDisputes).toThrow(expect.objectContaining({ status: 400 }))
  })
})
