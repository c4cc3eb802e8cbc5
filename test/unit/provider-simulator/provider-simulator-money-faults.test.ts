import { describe, expect, it } from 'vitest'
import { aCore, aRequestBody } from '../../support/provider-simulator-harness.ts'

type Core = ReturnType<typeof aCore>['core']

const create = (core: Core, overrides: Record<string, unknown> = {}) =>
  core.createPaymentRequest(aRequestBody('DANA', overrides)).payment_request_id

const rows = (core: Core, paymentId?: string) =>
  core.listTransactions(new URLSearchParams(paymentId === undefined ? {} : { product_id: paymentId })).data

const pay = (core: Core, id = create(core)) => {
  core.simulatePayment(id)
  return core.getPaymentRequest(id).latest_payment_id ?? ''
}

describe('the payment faults of the provider simulator', () => {
  it('wrong_amount: another amount is captured and booked, even against the body', () => {
    const { core } = aCore()
    core.orderFault({ target: 'payment', fault: 'wrong_amount', value: 149_000 })
    const id = create(core)

    core.simulatePayment(id, { amount: 150_000 })

    const payment = core.getPayment(core.getPaymentRequest(id).latest_payment_id ?? '')
    expect(payment.captures).toMatchObject([{ capture_amount: 149_000 }])
    expect(rows(core)).toMatchObject([{ amount: 149_000 }])
    expect(core.getPaymentRequest(id)).toMatchObject({ status: 'SUCCEEDED', request_amount: 150_000 })
  })

  it.each(['EXPIRED', 'CANCELED', 'FAILED', 'SUCCEEDED'])(
    'after_expiry: money arrives on a request that is %s and stays so',
    async (status) => {
      const { core, advance, callbacks } = aCore()
      const id = create(core)
      if (status === 'EXPIRED') core.expirePaymentRequest(id)
      if (status === 'CANCELED') core.cancelPaymentRequest(id)
      if (status === 'FAILED') core.failPaymentRequest(id)
      if (status === 'SUCCEEDED') core.simulatePayment(id)
      const before = core.getPaymentRequest(id).latest_payment_id
      core.orderFault({ target: 'payment', fault: 'after_expiry' })

      core.simulatePayment(id)
      await advance(0)

      const request = core.getPaymentRequest(id)
      const payment = core.getPayment(request.latest_payment_id ?? '')
      expect(request.status).toBe(status)
      expect(payment).toMatchObject({ status: 'SUCCEEDED', captures: [{ capture_amount: 150_000 }] })
      expect(payment.payment_id).not.toBe(before)
      expect(rows(core, payment.payment_id)).toHaveLength(1)
      expect(callbacks.at(-1)).toMatchObject({ event: 'payment.capture', data: payment })
      expect(() => core.simulatePayment(id)).toThrow(expect.objectContaining({ status: 400 }))
    },
  )

  it('after_expiry: waits for a final request', () => {
    const { core } = aCore()
    core.orderFault({ target: 'payment', fault: 'after_expiry' })

    pay(core)

    expect(core.armedFaults()).toMatchObject([{ target: 'payment', fault: 'after_expiry', times: 1 }])
  })
})

describe('the transaction faults of the provider simulator', () => {
  it('missing: the next payment never gets its row', async () => {
    const { core, advance } = aCore()
    core.orderFault({ target: 'transactions', fault: 'missing' })
    const without = pay(core)
    const withRow = pay(core)

    await advance(7 * 86_400)

    expect(rows(core, without)).toStrictEqual([])
    expect(rows(core)).toMatchObject([{ product_id: withRow }])
  })

  it('missing: armed after the payment, it takes the row that would be shown next', () => {
    const { core } = aCore()
    const paymentId = pay(core)
    core.orderFault({ target: 'transactions', fault: 'missing' })

    expect(rows(core, paymentId)).toStrictEqual([])
    expect(rows(core, paymentId)).toStrictEqual([])
  })

  it('duplicate: the next payment has two rows that differ by id only, both settled in time', async () => {
    const { core, advance } = aCore()
    core.orderFault({ target: 'transactions', fault: 'duplicate' })
    const paymentId = pay(core)
    pay(core)

    await advance(7 * 86_400)

    const [first, second, ...others] = rows(core, paymentId)
    expect(others).toStrictEqual([])
    expect(second).toStrictEqual({ ...first, id: expect.stringMatching(/^txn_/) })
    expect(second?.id).not.toBe(first?.id)
    expect(first?.fee.status).toBe('COMPLETED')
    expect(core.getTransaction(second?.id ?? '')).toStrictEqual(second)
  })

  it.each([
    [undefined, 150_001],
    [1000, 1000],
  ])('wrong_amount %s: the row of the next payment says %i', async (value, amount) => {
    const { core, advance } = aCore()
    core.orderFault({ target: 'transactions', fault: 'wrong_amount', value })
    const paymentId = pay(core)

    await advance(7 * 86_400)

    expect(rows(core, paymentId)).toMatchObject([{ amount, settlement_status: 'SETTLED' }])
    expect(rows(core, paymentId)[0]?.net_amount).toBe(amount - 2750 - 302)
    expect(core.getPayment(paymentId).captures).toMatchObject([{ capture_amount: 150_000 }])
  })

  it('wrong_amount: armed after settlement, it keeps the fee and moves updated', async () => {
    const { core, advance } = aCore()
    const paymentId = pay(core)
    await advance(7 * 86_400)
    core.orderFault({ target: 'transactions', fault: 'wrong_amount', value: 151_000 })

    const [row] = rows(core, paymentId)

    expect(row).toMatchObject({ amount: 151_000, net_amount: 151_000 - 3052, updated: '2026-11-27T04:10:00.000Z' })
  })

  it.each([0, 1, 1998, 4440])('fee %i: the next payment is settled at once with exactly that kept', (fee) => {
    const { core } = aCore()
    core.orderFault({ target: 'transactions', fault: 'fee', value: fee })

    const paymentId = pay(core)

    const [row] = rows(core, paymentId)
    expect(row).toMatchObject({ settlement_status: 'SETTLED', fee: { status: 'COMPLETED' }, net_amount: 150_000 - fee })
    expect((row?.fee.xendit_fee ?? 0) + (row?.fee.value_added_tax ?? 0)).toBe(fee)
  })

  it.each([
    [undefined, 3052],
    [777, 777],
  ])('fee_late with fee %s: the fee is known after that many seconds', async (fee, kept) => {
    const { core, advance } = aCore()
    core.orderFault({ target: 'transactions', fault: 'fee_late', value: 40 })
    if (fee !== undefined) core.orderFault({ target: 'transactions', fault: 'fee', value: fee })
    const paymentId = pay(core)

    await advance(39)
    const early = rows(core, paymentId)[0]
    await advance(1)

    expect(early).toMatchObject({ fee: { status: 'PENDING' }, net_amount: 150_000 })
    expect(rows(core, paymentId)).toMatchObject([
      { fee: { status: 'COMPLETED' }, net_amount: 150_000 - kept, updated: '2026-11-20T04:10:40.000Z' },
    ])
  })
})

describe('a contract that bills fees after the month, in the provider simulator', () => {
  it('fee_invoiced: the row settles in its own time and shows no fee', async () => {
    const { core, advance } = aCore()
    core.orderFault({ target: 'transactions', fault: 'fee_invoiced' })
    const first = pay(core)
    const second = pay(core)
    const booked = rows(core, first)

    await advance(7 * 24 * 3_600)

    expect(booked).toMatchObject([{ settlement_status: 'PENDING', fee: { status: 'PENDING' } }])
    expect(rows(core, first)).toMatchObject([
      {
        amount: 150_000,
        net_amount: 150_000,
        settlement_status: 'SETTLED',
        fee: { xendit_fee: 0, value_added_tax: 0, status: 'NOT_APPLICABLE' },
      },
    ])
    expect(rows(core, second)).toMatchObject([{ fee: { status: 'COMPLETED' } }])
  })
})

describe('rows that no capture makes, in the provider simulator', () => {
  it('are booked as ordered, and found by every filter', () => {
    const { core } = aCore()

    const booked = core.bookTransaction({ type: 'CHARGEBACK_REVERSAL', status: 'VOIDED', reference_id: 'ref-9' })

    expect(booked).toMatchObject({ amount: 100_000, net_amount: 100_000, settlement_status: null, product_data: null })
    expect(core.listTransactions(new URLSearchParams({ reference_id: 'ref-9' })).data).toStrictEqual([booked])
    expect(core.listTransactions(new URLSearchParams({ types: 'PAYMENT' })).data).toStrictEqual([])
  })

  it.each([{ amount: 'much' }, { created: 'yesterday' }, { unknown: 1 }])('are refused when ordered as %j', (order) => {
    const { core } = aCore()

    expect(() => core.bookTransaction(order)).toThrow(expect.objectContaining({ status: 400 }))
  })
})
