import { describe, expect } from 'vitest'
import { aCore, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const WEEK = 7 * 86_400
const FRIDAY = '2026-11-20T04:10:00.000Z'
const REFUSED = expect.objectContaining({ status: 400 })

describe('the transactions of the provider simulator', () => {
  // 17:30 UTC of a Thursday is already Friday in Jakarta.
  it.for([
    ['BRI_VIRTUAL_ACCOUNT', 10_000, FRIDAY, '2026-11-20T04:15:00.000Z', 4_000, 440],
    ['BCA_VIRTUAL_ACCOUNT', 10_000, FRIDAY, '2026-11-23T04:10:00.000Z', 4_000, 440],
    [
      'BCA_VIRTUAL_ACCOUNT',
      10_000,
      '2026-11-19T17:30:00.000Z',
      '2026-11-22T17:30:00.000Z',
      4_000,
      440,
    ],
    ['SHOPEEPAY', 10_000_000, FRIDAY, '2026-11-24T04:10:00.000Z', 200_000, 22_000],
    ['QRIS', 10_142, '2026-11-21T04:10:00.000Z', '2026-11-24T04:10:00.000Z', 70, 7],
  ] as const)(
    'of %s over %i paid at %s settle at %s, then with the fee %i and %i tax, rounded down',
    async ([channel, amount, paidAt, settledAt, fee, tax]) => {
      const { pay, create, advance, rows } = aCore({ start: paidAt })
      pay(create(channel, { request_amount: amount }))

      await advance((Date.parse(settledAt) - Date.parse(paidAt)) / 1000 - 1)
      const before = rows()
      await advance(1)

      expect(before).toMatchObject([
        { settlement_status: 'PENDING', fee: { xendit_fee: 0, status: 'PENDING' } },
      ])
      const knownFee = { xendit_fee: fee, value_added_tax: tax, status: 'COMPLETED' }
      const settled = {
        settlement_status: 'SETTLED',
        updated: settledAt,
        fee: knownFee,
        net_amount: amount - fee - tax,
      }
      expect(rows()).toMatchObject([settled])
    },
  )

  it('come newest first, each once, 50 at most at a time', ({ sim: { core, create, pay } }) => {
    const list = (query: Record<string, string> = {}) =>
      core.listTransactions(new URLSearchParams(query))
    const newestFirst = Array.from({ length: 62 }, () => pay(create('QRIS'))).toReversed()

    const pages = [list()]
    for (const limit of ['1000', '10'])
      pages.push(list({ after_id: pages.at(-1)?.data.at(-1)?.id ?? '', limit }))

    const seen = pages.flatMap(({ data }) => data.map(({ product_id: id }) => id))
    expect(seen).toStrictEqual(newestFirst)
    expect(pages.map(({ has_more: more }) => more)).toStrictEqual([true, true, false])
  })

  it('have a row where it was created, each filter, and no type that the list does not document', ({
    sim,
  }) => {
    const paid = sim.pay()
    const row = { product_id: 'found', created: '2026-11-01', updated: '2026-11-02' }
    const settled = { type: 'PAYMENT', settlement_status: 'EARLY_SETTLED', cashflow: 'MONEY_IN' }
    sim.core.bookTransaction({ ...row, ...settled })
    const ids = (query = '') => sim.rows(query).map(({ product_id: id }) => id)
    const filters =
      'channel_categories=BANK reference_id=withdrawal-1 product_id=found ' +
      'created[lte]=2026-11-01 updated[lte]=2026-11-02 created[gte]=2026-11-02 ' +
      'updated[gte]=2026-11-03 types=REFUND statuses=VOIDED'

    expect(ids()).toStrictEqual([paid, 'found'])
    expect(filters.split(' ').map((filter) => ids(filter).join())).toStrictEqual([
      ...Array(5).fill('found'),
      paid,
      paid,
      '',
      '',
    ])
    expect(sim.core.getBalance(new URLSearchParams())).toStrictEqual({ balance: 100_000 })
    for (const query of ['types=CHARGEBACK_REVERSAL', 'statuses=PAID', 'channel_categories=QRIS'])
      expect(() => sim.rows(query)).toThrow(REFUSED)
  })
})

describe('the transaction faults of the provider simulator', () => {
  const SETTLED = { amount: 150_000, net_amount: 150_000 - 3052, settlement_status: 'SETTLED' }
  const NO_FEE = { xendit_fee: 0, value_added_tax: 0, status: 'NOT_APPLICABLE' }
  const AT_ONCE = { settlement_status: 'SETTLED', fee: { status: 'COMPLETED' }, updated: FRIDAY }

  it.for<[string, number | undefined, object[]]>([
    ['missing', undefined, []],
    ['duplicate', undefined, [SETTLED, SETTLED]],
    ['wrong_amount', 1000, [{ ...SETTLED, amount: 1000, net_amount: 1000 - 3052 }]],
    ['fee_invoiced', undefined, [{ ...SETTLED, net_amount: 150_000, fee: NO_FEE }]],
    ['fee', 1998, [{ ...AT_ONCE, net_amount: 150_000 - 1998 }]],
    ['settle_now', undefined, [{ ...SETTLED, ...AT_ONCE }]],
  ])(
    'with %s %s the next payment alone has in its time the rows %j, and all money is in the balance',
    async ([fault, value, rows], { sim }) => {
      sim.order('transactions', fault, value)
      const [first, second] = [sim.pay(), sim.pay()]

      await sim.advance(WEEK)

      expect(sim.rows({ product_id: first })).toMatchObject(rows)
      expect(sim.rows({ product_id: second })).toMatchObject([
        { ...SETTLED, fee: { status: 'COMPLETED' } },
      ])
      expect(sim.core.getPayment(first).captures).toMatchObject([{ capture_amount: 150_000 }])
      const shown = sim.rows().reduce((sum, { net_amount: net }) => sum + net, 0)
      const balance = shown + (rows.length === 0 ? SETTLED.net_amount : 0)
      expect(sim.core.getBalance(new URLSearchParams())).toStrictEqual({ balance })
    },
  )

  it('with row_late and fee_late the row, and its fee, are shown after the ordered seconds', async ({
    sim,
  }) => {
    sim.order('transactions', 'row_late', 39)
    sim.order('transactions', 'fee_late', 40)
    sim.order('transactions', 'fee', 777)
    sim.pay()

    await sim.advance(38)
    expect(sim.rows()).toHaveLength(0)
    await sim.advance(1)
    const early = sim.rows()
    await sim.advance(1)

    expect(early).toMatchObject([{ fee: { status: 'PENDING' }, net_amount: 150_000 }])
    expect(sim.rows()).toMatchObject([
      { net_amount: 150_000 - 777, updated: '2026-11-20T04:10:40.000Z' },
    ])
  })
})

describe('reversals at the provider simulator (design section 10)', () => {
  const WON = { kind: 'chargeback_reversal' }

  it.for([
    ['voided', 'VOIDED'],
    ['reversed', 'REVERSED'],
  ])(
    '%s turns the payment’s own row, which never settles, without a callback',
    async ([kind, status], { sim }) => {
      const id = sim.create()
      sim.pay(id)
      const before = sim.callbacks.length

      const row = sim.core.reversePayment(id, { kind })
      await sim.advance(WEEK)

      expect(row).toMatchObject({
        type: 'PAYMENT',
        status,
        settlement_status: null,
        amount: 150_000,
      })
      expect(sim.rows()).toStrictEqual([row])
      expect(sim.callbacks).toHaveLength(before)
      expect(() => sim.core.reversePayment(id, { kind })).toThrow(REFUSED)
    },
  )

  it('have a row and a callback for each refund, chargeback and won dispute, if they are valid', async ({
    sim,
  }) => {
    const id = sim.create()
    const paymentId = sim.pay(id)
    for (const order of [{}, { kind: 'voided', amount: 1 }, { kind: 'refund', amount: 0.5 }, WON]) {
      expect(() => sim.core.reversePayment(id, order)).toThrow(REFUSED)
    }

    const rows = [
      { kind: 'refund', amount: 20_000 },
      { kind: 'chargeback', amount: 90_000, fee: 25_000 },
      WON,
    ].map((order) => sim.core.reversePayment(id, order))
    await sim.advance(1)

    const sameFields = { status: 'SUCCESS', product_id: paymentId }
    expect(rows).toMatchObject([
      { ...sameFields, type: 'REFUND', amount: 20_000, cashflow: 'MONEY_OUT' },
      // A chargeback includes the fee that it shows; the row of a won dispute does not.
      { ...sameFields, type: 'CHARGEBACK', amount: 115_000, cashflow: 'MONEY_OUT' },
      { ...sameFields, type: 'CHARGEBACK_REVERSAL', amount: 90_000, cashflow: 'MONEY_IN' },
    ])
    const events = 'refund.succeeded dispute.action_required dispute.won'
    expect(sim.callbacks.slice(-3).map(({ event }) => event)).toStrictEqual(events.split(' '))
  })
})
