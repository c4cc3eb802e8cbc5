import { describe, expect } from 'vitest'
import { simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const WEEK = 7 * 86_400

describe('the transaction faults of the provider simulator', () => {
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

  const AT_ONCE = { settlement_status: 'SETTLED', fee: { status: 'COMPLETED' }, updated: '2026-11-20T04:10:00.000Z' }

  it('take a payment that was made before as well: settle_now and missing, the row that is shown next', ({ sim }) => {
    const query = { product_id: sim.pay() }
    sim.order('transactions', 'settle_now', undefined, 2)

    expect([sim.rows(), sim.rows()]).toMatchObject([[AT_ONCE], [AT_ONCE]])
    expect(sim.core.armedFaults()).toMatchObject([{ fault: 'settle_now', times: 1 }])
    sim.order('transactions', 'missing')
    expect([sim.rows(query), sim.rows(query)]).toStrictEqual([[], []])
  })

  it.for(['BNI_VIRTUAL_ACCOUNT', 'QRIS'])('settle_now: the next rows of %s settle at once', (channel, { sim }) => {
    sim.order('transactions', 'settle_now', undefined, 2)

    const shown = [1, 2, 3].map(() => sim.rows({ product_id: sim.pay(sim.create(channel)) })[0])

    expect(shown).toMatchObject([AT_ONCE, AT_ONCE, { settlement_status: 'PENDING', fee: { status: 'PENDING' } }])
  })

  it.for([0, 1998])('fee %i: the next payment is settled at once with exactly that kept', (fee, { sim }) => {
    sim.order('transactions', 'fee', fee)

    sim.pay()

    const [row] = sim.rows()
    expect(row).toMatchObject({ ...AT_ONCE, net_amount: 150_000 - fee })
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

describe('money that goes back at the provider simulator (design section 10)', () => {
  it.for([
    ['voided', 'VOIDED'],
    ['reversed', 'REVERSED'],
  ] as const)('%s: the payment’s own row turns, is never settled, and no callback says so', async (want, { sim }) => {
    const [kind, status] = want
    const id = sim.create()
    sim.pay(id)
    await sim.advance(1)
    const before = sim.callbacks.length

    const row = sim.core.reversePayment(id, { kind })
    await sim.advance(WEEK)

    expect(row).toMatchObject({ type: 'PAYMENT', status, settlement_status: null, amount: 150_000 })
    expect(sim.rows()).toStrictEqual([row])
    expect(Date.parse(row.updated)).toBeGreaterThan(Date.parse(row.created))
    expect(sim.callbacks).toHaveLength(before)
    expect(() => sim.core.reversePayment(id, { kind })).toThrow(expect.objectContaining({ status: 400 }))
  })

  it.for([
    ['refund', 'REFUND', 'refund.succeeded'],
    ['chargeback', 'CHARGEBACK', 'dispute.action_required'],
  ] as const)('%s: a row of its own that names the payment, and a callback', async ([kind, type, event], { sim }) => {
    const id = sim.create()
    const paymentId = sim.pay(id)

    const rows = [{}, { amount: 20_000 }].map((order) => sim.core.reversePayment(id, { kind, ...order }))
    await sim.advance(1)

    const named = { type, status: 'SUCCESS', product_id: paymentId, cashflow: 'MONEY_OUT' }
    expect(rows).toMatchObject([150_000, 20_000].map((amount) => ({ ...named, amount })))
    expect(sim.rows({ product_id: paymentId })).toHaveLength(3)
    expect(sim.callbacks.slice(-2)).toMatchObject([{ event }, { event }])
  })

  it('chargeback: its row includes the fee that it shows; the row of a won dispute does not', async ({ sim }) => {
    const id = sim.create()
    sim.pay(id)

    const row = sim.core.reversePayment(id, { kind: 'chargeback', amount: 90_000, fee: 25_000 })
    const won = sim.core.reversePayment(id, { kind: 'chargeback_reversal' })
    await sim.advance(1)

    expect(row).toMatchObject({ amount: 115_000, net_amount: 115_000, fee: { status: 'COMPLETED' } })
    expect(row.fee.xendit_fee + row.fee.value_added_tax).toBe(25_000)
    expect(won).toMatchObject({ type: 'CHARGEBACK_REVERSAL', amount: 90_000, cashflow: 'MONEY_IN' })
    expect(won.fee.xendit_fee).toBe(0)
    expect(sim.callbacks.slice(-2)).toMatchObject([
      { event: 'dispute.action_required', amount: { initial: '90000' } },
      { event: 'dispute.won' },
    ])
  })

  it('says what is wrong with an order', ({ sim }) => {
    const id = sim.create()
    expect(() => sim.core.reversePayment(id, { kind: 'refund' })).toThrow(/nothing was paid/)
    sim.pay(id)
    expect(() => sim.core.reversePayment(id, { kind: 'chargeback_reversal' })).toThrow(/no chargeback/)
    for (const wrong of [
      {},
      { kind: 'voided', amount: 1 },
      { kind: 'refund', amount: 0.5 },
      { kind: 'refund', fee: 1 },
    ]) {
      expect(() => sim.core.reversePayment(id, wrong)).toThrow(expect.objectContaining({ status: 400 }))
    }
  })

  it('books rows that no capture makes as ordered, and finds them by every filter', ({ sim: { core, rows } }) => {
    const booked = core.bookTransaction({ type: 'CHARGEBACK_REVERSAL', status: 'VOIDED', reference_id: 'ref-9' })

    expect(booked).toMatchObject({ amount: 100_000, net_amount: 100_000, settlement_status: null, product_data: null })
    expect(rows({ reference_id: 'ref-9' })).toStrictEqual([booked])
    expect(rows({ types: 'PAYMENT' })).toStrictEqual([])
  })

  it('shows settled money and later movements in GET /balance, and no reversed rows', async ({ sim }) => {
    const balance = (account = 'CASH') => sim.core.getBalance(new URLSearchParams({ account_type: account }))
    const [id, turning] = [sim.create('DANA'), sim.create('DANA')]
    for (const request of [id, turning]) sim.pay(request)
    const seen = [balance()]
    await sim.advance(WEEK)
    for (const step of [
      () => sim.core.reversePayment(turning, { kind: 'reversed' }),
      () => sim.core.reversePayment(id, { kind: 'chargeback', amount: 50_000, fee: 25_000 }),
      () => sim.core.reversePayment(id, { kind: 'chargeback_reversal' }),
      () => sim.core.bookTransaction({ type: 'WITHDRAWAL', amount: 100_000, net_amount: 102_500 }),
    ]) {
      step()
      seen.push(balance())
    }

    expect(seen.map(({ balance: held }) => held)).toStrictEqual([0, 146_948, 71_948, 121_948, 19_448])
    expect(() => balance('TAX')).toThrow(/account_type must be CASH/)
  })
})
