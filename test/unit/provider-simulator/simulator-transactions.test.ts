import { describe, expect } from 'vitest'
import { aCore, aRequestBody, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const [MINUTE, WEEK] = [60, 7 * 86_400] as const

describe('the fee of a transaction of the provider simulator', () => {
  const feeOf = (xendit_fee: number, value_added_tax: number, status: string) => ({
    xendit_fee,
    value_added_tax,
    status,
    xendit_withholding_tax: 0,
    third_party_withholding_tax: 0,
  })

  it('is zero and PENDING until settlement, then final, with updated moved', async ({ sim }) => {
    const id = sim.create()
    const paymentId = sim.pay(id)
    const [pending] = sim.rows({ product_id: paymentId })

    await sim.advance(5 * MINUTE)

    const [settled] = sim.rows({ product_id: paymentId })
    // What else it has is held against the provider's documents in `provider-contract.test.ts`.
    expect(pending).toMatchObject({
      product_id: paymentId,
      reference_id: aRequestBody().reference_id,
      amount: 150_000,
      net_amount: 150_000,
      settlement_status: 'PENDING',
      estimated_settlement_time: '2026-11-20T04:15:00.000Z',
      updated: '2026-11-20T04:10:00.000Z',
      fee: feeOf(0, 0, 'PENDING'),
      product_data: { capture_id: sim.paymentOf(id).captures?.[0]?.capture_id, payment_request_id: id },
    })
    expect(settled).toStrictEqual({
      ...pending,
      net_amount: 145_560,
      settlement_status: 'SETTLED',
      updated: '2026-11-20T04:15:00.000Z',
      fee: feeOf(4_000, 440, 'COMPLETED'),
    })
    expect(sim.core.getTransaction(pending?.id ?? '')).toStrictEqual(settled)
  })

  it.for([
    ['BCA_VIRTUAL_ACCOUNT', 10_000, 4000, 440],
    ['OVO', 10_025, 200, 22],
    ['SHOPEEPAY', 10_000_000, 200_000, 22_000],
    ['QRIS', 10_142, 70, 7],
  ] as const)('of %s for %i is %i and %i tax, rounded down', async ([channel, amount, fee, tax], { sim }) => {
    sim.pay(sim.create(channel, { request_amount: amount }))

    await sim.advance(WEEK)

    const known = { xendit_fee: fee, value_added_tax: tax, status: 'COMPLETED' }
    expect(sim.rows()).toMatchObject([{ fee: known, net_amount: amount - fee - tax }])
  })

  // 2026-11-20 is a Friday; 17:30 UTC of a Thursday is already Friday in Jakarta.
  it.for([
    ['BRI_VIRTUAL_ACCOUNT', '2026-11-20T04:10:00.000Z', '2026-11-20T04:15:00.000Z'],
    ['BCA_VIRTUAL_ACCOUNT', '2026-11-20T04:10:00.000Z', '2026-11-23T04:10:00.000Z'],
    ['BCA_VIRTUAL_ACCOUNT', '2026-11-19T17:30:00.000Z', '2026-11-22T17:30:00.000Z'],
    ['OVO', '2026-11-17T04:10:00.000Z', '2026-11-19T04:10:00.000Z'],
    ['QRIS', '2026-11-21T04:10:00.000Z', '2026-11-24T04:10:00.000Z'],
  ] as const)('of %s paid at %s is known at %s', async ([channel, paidAt, settledAt]) => {
    const { pay, create, advance, rows } = aCore({ start: paidAt })
    pay(create(channel))

    await advance((Date.parse(settledAt) - Date.parse(paidAt)) / 1000 - 1)
    const before = rows()
    await advance(1)

    expect(before).toMatchObject([{ settlement_status: 'PENDING' }])
    expect(rows()).toMatchObject([{ settlement_status: 'SETTLED', updated: settledAt }])
  })
})

describe('GET /transactions of the provider simulator', () => {
  it('has no row for a request that was not paid', ({ sim: { core, create, end } }) => {
    create()
    end(create(), 'FAILED')

    expect(core.listTransactions(new URLSearchParams())).toStrictEqual({ has_more: false, data: [], links: [] })
  })

  it.for([
    ['types=PAYMENT', 3],
    ['statuses=SUCCESS', 3],
    ['channel_categories=VIRTUAL_ACCOUNT&channel_categories=EWALLET', 2],
    ['currency=PHP', 0],
    ['reference_id=order-2', 1],
    ['amount=30000', 1],
    ['created[gte]=2026-11-20T04:15:00Z&created[lte]=2026-11-20T04:25:00Z', 1],
    ['updated[gte]=2026-11-20T04:25:00.000Z', 2],
    ['updated[lte]=2026-11-20T04:15:00.000Z', 1],
  ] as const)('filters by %s', async ([query, count], { sim }) => {
    const paid = (channel: string, nth: number) =>
      sim.pay(sim.create(channel, { reference_id: `order-${nth}`, request_amount: nth * 10_000 }))
    paid('BNI_VIRTUAL_ACCOUNT', 1)
    await sim.advance(5 * MINUTE)
    await sim.advance(5 * MINUTE)
    paid('BNI_VIRTUAL_ACCOUNT', 2)
    await sim.advance(10 * MINUTE)
    paid('QRIS', 3)

    expect(sim.rows(query)).toHaveLength(count)
  })

  it('pages newest first in both directions, each row once, 50 at most at a time', ({ sim: { core, create, pay } }) => {
    const list = (query: Record<string, string> = {}) => core.listTransactions(new URLSearchParams(query))
    const newestFirst = Array.from({ length: 62 }, () => pay(create('QRIS'))).toReversed()

    const first = list()
    const second = list({ after_id: first.data.at(-1)?.id ?? '', limit: '1000' })
    const third = list({ after_id: second.data.at(-1)?.id ?? '' })
    const back = list({ before_id: third.data[0]?.id ?? '', limit: '1000' })

    const seen = [first, second, third].flatMap(({ data }) => data.map(({ product_id: id }) => id))
    expect(seen).toStrictEqual(newestFirst)
    expect([first, second, third, back].map(({ has_more: more }) => more)).toStrictEqual([true, true, false, true])
    expect(back.data).toStrictEqual(second.data)
    expect(first.links).toStrictEqual([
      { href: `/transactions?after_id=${first.data.at(-1)?.id}`, rel: 'next', method: 'GET' },
    ])
  })

  it('keeps its place when the row of the cursor has left the filter', async ({ sim }) => {
    for (let count = 0; count < 2; count++) sim.pay(sim.create())
    const [newest] = sim.rows({ limit: '1' })
    await sim.advance(5 * MINUTE)

    const page = sim.rows({ after_id: newest?.id ?? '', 'updated[lte]': '2026-11-20T04:10:00.000Z' })

    expect(page).toStrictEqual([])
  })

  it.for(['limit=0', 'created[gte]=yesterday'])('refuses %s', (query, { sim }) => {
    const refusal = expect.objectContaining({ status: 400, errorCode: 'API_VALIDATION_ERROR' })

    expect(() => sim.rows(query)).toThrow(refusal)
  })
})
