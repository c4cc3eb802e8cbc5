import { describe, expect } from 'vitest'
import { FINAL, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const WEEK = 7 * 86_400

describe('the payment faults of the provider simulator', () => {
  it('wrong_amount: another amount is captured and booked, even against the body', ({ sim }) => {
    sim.order('payment', 'wrong_amount', 149_000)
    const id = sim.create()

    sim.pay(id, { amount: 150_000 })

    expect(sim.paymentOf(id).captures).toMatchObject([{ capture_amount: 149_000 }])
    expect(sim.rows()).toMatchObject([{ amount: 149_000 }])
    expect(sim.core.getPaymentRequest(id)).toMatchObject({ status: 'SUCCEEDED', request_amount: 150_000 })
  })

  it.for(FINAL)('after_expiry: money arrives on a request that is %s and stays so', async (status, { sim }) => {
    const id = sim.create()
    sim.end(id, status)
    const before = sim.core.getPaymentRequest(id).latest_payment_id
    sim.order('payment', 'after_expiry')

    sim.core.simulatePayment(id)
    await sim.advance(0)

    const payment = sim.paymentOf(id)
    expect(sim.statusOf(id)).toBe(status)
    expect(payment).toMatchObject({ status: 'SUCCEEDED', captures: [{ capture_amount: 150_000 }] })
    expect(payment.payment_id).not.toBe(before)
    expect(sim.rows({ product_id: payment.payment_id })).toHaveLength(1)
    expect(sim.callbacks.at(-1)).toMatchObject({ event: 'payment.capture', data: payment })
    expect(() => sim.core.simulatePayment(id)).toThrow(expect.objectContaining({ status: 400 }))
  })
})

describe('the transaction faults of the provider simulator', () => {
  it('missing: armed after the payment, it takes the row that would be shown next', ({ sim }) => {
    const query = { product_id: sim.pay() }
    sim.order('transactions', 'missing')

    expect([sim.rows(query), sim.rows(query)]).toStrictEqual([[], []])
  })

  const SETTLED = { amount: 150_000, net_amount: 150_000 - 3052, settlement_status: 'SETTLED' }
  const NO_FEE = { xendit_fee: 0, value_added_tax: 0, status: 'NOT_APPLICABLE' }

  it.for<[string, number | undefined, object[]]>([
    ['missing', undefined, []],
    ['duplicate', undefined, [SETTLED, SETTLED]],
    ['wrong_amount', 1000, [{ ...SETTLED, amount: 1000, net_amount: 1000 - 3052 }]],
    ['fee_invoiced', undefined, [{ ...SETTLED, net_amount: 150_000, fee: NO_FEE }]],
  ])('%s %s: the next payment, and no other, has in its time the rows %j', async ([fault, value, rows], { sim }) => {
    sim.order('transactions', fault, value)
    const [first, second] = [sim.pay(), sim.pay()]
    const booked = sim.rows({ product_id: first })

    await sim.advance(WEEK)

    expect(booked).toMatchObject(rows.map(() => ({ settlement_status: 'PENDING', fee: { status: 'PENDING' } })))
    expect(sim.rows({ product_id: first })).toMatchObject(rows)
    expect(sim.rows({ product_id: second })).toMatchObject([{ ...SETTLED, fee: { status: 'COMPLETED' } }])
    expect(sim.core.getPayment(first).captures).toMatchObject([{ capture_amount: 150_000 }])
  })

  it.for([0, 1998])('fee %i: the next payment is settled at once with exactly that kept', (fee, { sim }) => {
    sim.order('transactions', 'fee', fee)

    sim.pay()

    const [row] = sim.rows()
    expect(row).toMatchObject({ settlement_status: 'SETTLED', fee: { status: 'COMPLETED' }, net_amount: 150_000 - fee })
    expect((row?.fee.xendit_fee ?? 0) + (row?.fee.value_added_tax ?? 0)).toBe(fee)
  })

  it.for([
    [undefined, 3052],
    [777, 777],
  ])('fee_late with fee %s: the fee is known after that many seconds', async ([fee, kept = 0], { sim }) => {
    sim.order('transactions', 'fee_late', 40)
    if (fee !== undefined) sim.order('transactions', 'fee', fee)
    sim.pay()

    await sim.advance(39)
    const early = sim.rows()
    await sim.advance(1)

    expect(early).toMatchObject([{ fee: { status: 'PENDING' }, net_amount: 150_000 }])
    expect(sim.rows()).toMatchObject([
      { fee: { status: 'COMPLETED' }, net_amount: 150_000 - kept, updated: '2026-11-20T04:10:40.000Z' },
    ])
  })
})

describe('rows that no capture makes, in the provider simulator', () => {
  it('are booked as ordered, and found by every filter', ({ sim: { core, rows } }) => {
    const booked = core.bookTransaction({ type: 'CHARGEBACK_REVERSAL', status: 'VOIDED', reference_id: 'ref-9' })

    expect(booked).toMatchObject({ amount: 100_000, net_amount: 100_000, settlement_status: null, product_data: null })
    expect(rows({ reference_id: 'ref-9' })).toStrictEqual([booked])
    expect(rows({ types: 'PAYMENT' })).toStrictEqual([])
  })
})

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
    await sim.advance(WEEK)

    expect(row).toMatchObject({ type: 'PAYMENT', status, settlement_status: settlement, amount: 150_000 })
    expect(sim.rows()).toStrictEqual([row])
    expect(Date.parse(row.updated)).toBeGreaterThan(Date.parse(row.created))
    expect(sim.callbacks).toHaveLength(before)
    expect(() => sim.core.reversePayment(id, { kind })).toThrow(expect.objectContaining({ status: 400 }))
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
