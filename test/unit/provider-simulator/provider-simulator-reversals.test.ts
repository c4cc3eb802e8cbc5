import { describe, expect } from 'vitest'
import { simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const DAYS = 86_400

describe('money that goes back at the provider simulator (design section 10)', () => {
  it.for([
    ['voided', 'VOIDED', null],
    ['reversed', 'REVERSED', null],
  ] as const)('%s: the payment’s own row turns, is never settled, and no callback says so', async (want, { sim }) => {
    const [kind, status, settlement] = want
    const id = sim.create()
    sim.pay(id)
    await sim.advance(1)
    const before = sim.callbacks.length

    const row = sim.core.reversePayment(id, { kind })
    await sim.advance(7 * DAYS)

    expect(row).toMatchObject({ type: 'PAYMENT', status, settlement_status: settlement, amount: 150_000 })
    expect(sim.rows()).toStrictEqual([row])
    expect(Date.parse(row.updated)).toBeGreaterThan(Date.parse(row.created))
    expect(sim.callbacks).toHaveLength(before)
    expect(() => sim.core.reversePayment(id, { kind })).toThrow(expect.objectContaining({ status: 400 }))
  })

  it('reversed after its settlement: the row stays settled', async ({ sim }) => {
    const id = sim.create()
    sim.pay(id)
    await sim.advance(7 * DAYS)

    expect(sim.core.reversePayment(id, { kind: 'reversed' })).toMatchObject({ settlement_status: 'SETTLED' })
  })

  it.for([
    ['refund', 'REFUND', 'refund.succeeded'],
    ['chargeback', 'CHARGEBACK', 'dispute.action_required'],
  ] as const)(
    '%s: a row of its own that names the payment, whole or of an amount, and a callback',
    async (want, { sim }) => {
      const [kind, type, event] = want
      const id = sim.create()
      const paymentId = sim.pay(id)

      const whole = sim.core.reversePayment(id, { kind })
      const part = sim.core.reversePayment(id, { kind, amount: 20_000 })
      await sim.advance(1)

      const named = { type, status: 'SUCCESS', product_id: paymentId, cashflow: 'MONEY_OUT' }
      expect(whole).toMatchObject({ ...named, amount: 150_000 })
      expect(part).toMatchObject({ ...named, amount: 20_000 })
      expect(sim.rows({ product_id: paymentId })).toHaveLength(3)
      expect(sim.callbacks.slice(-2)).toMatchObject([{ event }, { event }])
    },
  )

  it('chargeback_reversal: brings the money of a chargeback again, and is refused without one', async ({ sim }) => {
    const id = sim.create()
    sim.pay(id)
    expect(() => sim.core.reversePayment(id, { kind: 'chargeback_reversal' })).toThrow(/no chargeback/)
    sim.core.reversePayment(id, { kind: 'chargeback', amount: 90_000 })

    const row = sim.core.reversePayment(id, { kind: 'chargeback_reversal' })
    await sim.advance(1)

    expect(row).toMatchObject({ type: 'CHARGEBACK_REVERSAL', amount: 90_000, cashflow: 'MONEY_IN' })
    expect(sim.callbacks.at(-1)).toMatchObject({ event: 'dispute.won' })
  })

  it('says what is wrong with an order', ({ sim }) => {
    const id = sim.create()
    expect(() => sim.core.reversePayment(id, { kind: 'refund' })).toThrow(/nothing was paid/)
    sim.pay(id)
    for (const wrong of [{}, { kind: 'returned' }, { kind: 'voided', amount: 1 }, { kind: 'refund', amount: 0.5 }]) {
      expect(() => sim.core.reversePayment(id, wrong)).toThrow(expect.objectContaining({ status: 400 }))
    }
  })
})
