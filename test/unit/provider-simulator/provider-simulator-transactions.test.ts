import { describe, expect, it } from 'vitest'
import { aCore, aRequestBody } from '../../support/provider-simulator-harness.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 24 * HOUR

const list = (core: ReturnType<typeof aCore>['core'], query: Record<string, string> | [string, string][] = {}) =>
  core.listTransactions(new URLSearchParams(query))

const paid = (core: ReturnType<typeof aCore>['core'], channelCode: string, overrides: Record<string, unknown> = {}) => {
  const { payment_request_id: id } = core.createPaymentRequest(aRequestBody(channelCode, overrides))
  core.simulatePayment(id)
  return core.getPaymentRequest(id).latest_payment_id ?? ''
}

describe('the fee of a transaction of the provider simulator', () => {
  it('is zero and PENDING until settlement, then final, with updated moved', async () => {
    const { core, advance } = aCore()
    const paymentId = paid(core, 'BNI_VIRTUAL_ACCOUNT')
    const [pending] = list(core, { product_id: paymentId }).data

    await advance(5 * MINUTE)

    const [settled] = list(core, { product_id: paymentId }).data
    expect(pending).toStrictEqual({
      id: expect.stringMatching(/^txn_[0-9a-f-]{36}$/),
      product_id: paymentId,
      type: 'PAYMENT',
      status: 'SUCCESS',
      channel_category: 'VIRTUAL_ACCOUNT',
      channel_code: 'BNI',
      reference_id: aRequestBody().reference_id,
      account_identifier: null,
      currency: 'IDR',
      amount: 150_000,
      net_amount: 150_000,
      net_amount_currency: 'IDR',
      cashflow: 'MONEY_IN',
      settlement_status: 'PENDING',
      estimated_settlement_time: '2026-11-20T04:15:00.000Z',
      business_id: expect.any(String),
      created: '2026-11-20T04:10:00.000Z',
      updated: '2026-11-20T04:10:00.000Z',
      fee: {
        xendit_fee: 0,
        value_added_tax: 0,
        xendit_withholding_tax: 0,
        third_party_withholding_tax: 0,
        status: 'PENDING',
      },
      product_data: {
        capture_id: core.getPayment(paymentId).captures?.[0]?.capture_id,
        payment_request_id: core.getPayment(paymentId).payment_request_id,
        payment_link_id: null,
        reusable_payment_link_id: null,
      },
    })
    expect(settled).toStrictEqual({
      ...pending,
      net_amount: 145_560,
      settlement_status: 'SETTLED',
      updated: '2026-11-20T04:15:00.000Z',
      fee: {
        xendit_fee: 4000,
        value_added_tax: 440,
        xendit_withholding_tax: 0,
        third_party_withholding_tax: 0,
        status: 'COMPLETED',
      },
    })
    expect(core.getTransaction(pending?.id ?? '')).toStrictEqual(settled)
  })

  it.each([
    ['BCA_VIRTUAL_ACCOUNT', 10_000, 4000, 440],
    ['PERMATA_VIRTUAL_ACCOUNT', 1, 4000, 440],
    ['OVO', 10_025, 200, 22],
    ['DANA', 10_000, 650, 71],
    ['LINKAJA', 10_000, 150, 16],
    ['SHOPEEPAY', 10_000_000, 200_000, 22_000],
    ['GOPAY', 99, 1, 0],
    ['ASTRAPAY', 10_000, 700, 77],
    ['QRIS', 10_142, 70, 7],
  ])('of %s for %i is %i and %i tax, rounded down', async (channelCode, amount, fee, tax) => {
    const { core, advance } = aCore()
    const paymentId = paid(core, channelCode, { request_amount: amount })

    await advance(7 * DAY)

    const [row] = list(core, { product_id: paymentId }).data
    expect(row?.fee).toMatchObject({ xendit_fee: fee, value_added_tax: tax, status: 'COMPLETED' })
    expect(row?.net_amount).toBe(amount - fee - tax)
  })

  // 2026-11-20 is a Friday; 17:30 UTC of a Thursday is already Friday in Jakarta.
  it.each([
    ['BRI_VIRTUAL_ACCOUNT', '2026-11-20T04:10:00.000Z', '2026-11-20T04:15:00.000Z'],
    ['BCA_VIRTUAL_ACCOUNT', '2026-11-18T04:10:00.000Z', '2026-11-19T04:10:00.000Z'],
    ['BCA_VIRTUAL_ACCOUNT', '2026-11-20T04:10:00.000Z', '2026-11-23T04:10:00.000Z'],
    ['BCA_VIRTUAL_ACCOUNT', '2026-11-19T17:30:00.000Z', '2026-11-22T17:30:00.000Z'],
    ['GOPAY', '2026-11-20T04:10:00.000Z', '2026-11-23T04:10:00.000Z'],
    ['OVO', '2026-11-17T04:10:00.000Z', '2026-11-19T04:10:00.000Z'],
    ['DANA', '2026-11-19T04:10:00.000Z', '2026-11-23T04:10:00.000Z'],
    ['QRIS', '2026-11-21T04:10:00.000Z', '2026-11-24T04:10:00.000Z'],
  ])('of %s paid at %s is known at %s', async (channelCode, paidAt, settledAt) => {
    const { core, advance } = aCore({ start: paidAt })
    const paymentId = paid(core, channelCode)
    const seconds = (Date.parse(settledAt) - Date.parse(paidAt)) / 1000

    await advance(seconds - 1)
    const before = list(core, { product_id: paymentId }).data[0]?.settlement_status
    await advance(1)

    const after = list(core, { product_id: paymentId }).data[0]
    expect(before).toBe('PENDING')
    expect(after).toMatchObject({ settlement_status: 'SETTLED', updated: settledAt })
  })
})

describe('GET /transactions of the provider simulator', () => {
  it('has no row for a request that was not paid', () => {
    const { core } = aCore()
    core.createPaymentRequest(aRequestBody())
    core.failPaymentRequest(core.createPaymentRequest(aRequestBody()).payment_request_id)

    expect(list(core)).toStrictEqual({ has_more: false, data: [], links: [] })
  })

  it('books the amount captured, not the amount asked for', () => {
    const { core } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody())

    core.simulatePayment(id, { amount: 100 })

    expect(list(core).data).toMatchObject([{ amount: 100 }])
  })

  it.each([
    [{ types: 'PAYMENT' }, 3],
    [{ types: 'REFUND' }, 0],
    [{ statuses: 'SUCCESS' }, 3],
    [{ statuses: 'FAILED' }, 0],
    [{ channel_categories: 'QR_CODE' }, 1],
    [{ currency: 'IDR' }, 3],
    [{ currency: 'PHP' }, 0],
    [{ reference_id: 'order-2' }, 1],
    [{ reference_id: 'order' }, 0],
    [{ amount: '30000' }, 1],
    [{ 'created[gte]': '2026-11-20T04:20:00.000Z' }, 2],
    [{ 'created[lte]': '2026-11-20T04:20:00.000Z' }, 2],
    [{ 'created[gte]': '2026-11-20T04:15:00Z', 'created[lte]': '2026-11-20T04:25:00Z' }, 1],
    [{ 'updated[gte]': '2026-11-20T04:25:00.000Z' }, 2],
    [{ 'updated[lte]': '2026-11-20T04:15:00.000Z' }, 1],
  ])('filters by %j', async (query, count) => {
    const { core, advance } = aCore()
    paid(core, 'BNI_VIRTUAL_ACCOUNT', { reference_id: 'order-1', request_amount: 10_000 })
    await advance(5 * MINUTE)
    await advance(5 * MINUTE)
    paid(core, 'BNI_VIRTUAL_ACCOUNT', { reference_id: 'order-2', request_amount: 20_000 })
    await advance(10 * MINUTE)
    paid(core, 'QRIS', { reference_id: 'order-3', request_amount: 30_000 })

    expect(list(core, query as Record<string, string>).data).toHaveLength(count)
  })

  it('takes several values of one filter', () => {
    const { core } = aCore()
    paid(core, 'QRIS')
    paid(core, 'OVO')
    paid(core, 'BRI_VIRTUAL_ACCOUNT')

    const page = list(core, [
      ['channel_categories', 'QR_CODE'],
      ['channel_categories', 'EWALLET'],
    ])

    expect(page.data.map(({ channel_code: code }) => code)).toStrictEqual(['ID_OVO', 'QRIS'])
  })

  it('pages newest first in both directions, each row once', () => {
    const { core } = aCore()
    const newestFirst = Array.from({ length: 25 }, () => paid(core, 'QRIS')).toReversed()

    const first = list(core)
    const second = list(core, { after_id: first.data.at(-1)?.id ?? '' })
    const third = list(core, { after_id: second.data.at(-1)?.id ?? '', limit: '10' })
    const back = list(core, { before_id: third.data[0]?.id ?? '' })

    const seen = [first, second, third].flatMap(({ data }) => data.map(({ product_id: id }) => id))
    expect(seen).toStrictEqual(newestFirst)
    expect([first, second, third, back].map(({ has_more: more }) => more)).toStrictEqual([true, true, false, true])
    expect(back.data).toStrictEqual(second.data)
    expect(first.links).toStrictEqual([
      { href: `/transactions?after_id=${first.data.at(-1)?.id}`, rel: 'next', method: 'GET' },
    ])
  })

  it('keeps its place when the row of the cursor has left the filter', async () => {
    const { core, advance } = aCore()
    paid(core, 'BNI_VIRTUAL_ACCOUNT')
    paid(core, 'BNI_VIRTUAL_ACCOUNT')
    const [newest] = list(core, { limit: '1' }).data
    await advance(5 * MINUTE)

    const page = list(core, { after_id: newest?.id ?? '', 'updated[lte]': '2026-11-20T04:10:00.000Z' })

    expect(page.data).toStrictEqual([])
  })

  it('gives at most 50 rows at a time', () => {
    const { core } = aCore()
    for (let count = 0; count < 51; count++) paid(core, 'QRIS')

    const page = list(core, { limit: '1000' })

    expect(page.data).toHaveLength(50)
    expect(page.has_more).toBe(true)
  })

  it.each([
    [{ limit: '0' }],
    [{ limit: 'many' }],
    [{ amount: '-1' }],
    [{ 'created[gte]': 'yesterday' }],
    [{ after_id: 'txn_none' }],
  ])('refuses %j', (query) => {
    const { core } = aCore()

    expect(() => list(core, query as Record<string, string>)).toThrow(
      expect.objectContaining({ status: 400, errorCode: 'API_VALIDATION_ERROR' }),
    )
  })

  it('does not find an unknown transaction', () => {
    const { core } = aCore()

    expect(() => core.getTransaction('txn_none')).toThrow(expect.objectContaining({ status: 404 }))
  })
})
