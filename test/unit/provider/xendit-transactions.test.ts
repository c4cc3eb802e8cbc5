import { describe, expect, it } from 'vitest'
import { timestampOf } from '../../../shared/time.ts'
import { SETTLED_TRANSACTION, scriptedProvider } from '../../support/scripted-provider.ts'
import { json } from '../../support/scripted-server.ts'
import { shownFee as fee, readRows } from './read-rows.ts'

/** Every member of every enum of a row: `facts.test.ts`. */
describe('xendit listTransactions', () => {
  it('asks for payments page by page with every filter, and for all types on request', async () => {
    const { provider, server } = await scriptedProvider(json(200, { has_more: false, data: [] }))

    const [updatedFrom, updatedTo] = [
      timestampOf(Date.UTC(2026, 10, 19)),
      timestampOf(Date.UTC(2026, 10, 20)),
    ]
    const filter = {
      providerPaymentId: 'py-1',
      reference: 'ref & 1',
      createdFrom: updatedFrom,
      createdTo: updatedTo,
      updatedFrom,
      updatedTo,
      afterId: 'txn_9',
    }

    const answer = await provider.listTransactions({ ...filter, limit: 50 })
    await provider.listTransactions({ limit: 5 })
    await provider.listTransactions({ limit: 5, rows: 'all' })
    await provider.listTransactions({ limit: 5, rows: 'reversed', category: 'QR_CODE' })

    expect(answer).toStrictEqual({ kind: 'found', value: { transactions: [], hasMore: false } })
    const [filtered, few, every, reversed] = server.requests.map(
      ({ url }) => new URL(url, 'http://provider'),
    )
    expect(Object.fromEntries(filtered?.searchParams ?? [])).toStrictEqual({
      types: 'PAYMENT',
      limit: '50',
      after_id: 'txn_9',
      product_id: 'py-1',
      reference_id: 'ref & 1',
      'created[gte]': updatedFrom,
      'created[lte]': updatedTo,
      'updated[gte]': '2026-11-19T00:00:00.000Z',
      'updated[lte]': '2026-11-20T00:00:00.000Z',
    })
    expect(few?.search).toBe('?limit=5&types=PAYMENT')
    expect(every?.search).toBe('?limit=5')
    const daily = 'channel_categories=QR_CODE&statuses=VOIDED&statuses=REVERSED'
    expect(reversed?.search).toBe(`?limit=5&${daily}`)
  })

  it('cannot read a page that announces more rows and gives no position', async () => {
    const { provider } = await scriptedProvider(json(200, { has_more: true, data: [] }))

    expect(await provider.listTransactions({ limit: 5 })).toStrictEqual({
      kind: 'unanswered',
      reason: 'refused',
      code: 'UNREADABLE_PAGE',
    })
  })

  it('reads a settled row: what the provider kept is the amount less the net', async () => {
    const ids = {
      transactionId: 'txn_1',
      providerPaymentId: 'py-1',
      paymentRequestId: 'pr-1',
      reference: 'ref-1',
    }
    const amounts = {
      currency: 'IDR',
      amountMinor: 150_000,
      keptMinor: 4_440,
      providerMinor: 145_560,
    }
    const settled = { settledAt: '2026-11-20T04:05:00.000Z', settlesAt: '2026-11-20T04:05:00.000Z' }
    const times = {
      ...settled,
      createdAt: '2026-11-20T04:00:00.000Z',
      updatedAt: '2026-11-20T04:06:00.000Z',
    }
    const kind = {
      type: 'payment',
      isCaptured: true,
      isFeeEnded: true,
      status: 'success',
      reversalKind: undefined,
      category: undefined,
    }
    expect(await readRows({})).toStrictEqual([{ ...kind, ...ids, ...amounts, ...times }])
  })

  it.each([
    ['another product', { product_id: 'inv-1' }],
    ['a payment that is not over', { status: 'PENDING' }],
    ['money that goes back', { type: 'REFUND' }],
  ])('proves no capture by a row of %s', async (_case, fields) => {
    expect((await readRows(fields))[0]?.isCaptured).toBeUndefined()
  })

  it.each<[string, object, number | undefined]>([
    ['settled, nothing kept', { net_amount: 150_000 }, 0],
    ['settled, fractions: rounded up', { net_amount: 145_559.5 }, 4_441],
    ['settled, more kept than was paid', { amount: 1_000, net_amount: -3_440 }, 4_440],
    ['settled, amounts as text', { amount: '1000', net_amount: '-3440.10' }, 4_441],
    ['without a settlement status', { settlement_status: null }, undefined],
    ['settled, but no payment', { type: 'REFUND' }, undefined],
    ['settled, but voided', { status: 'VOIDED' }, undefined],
    ['settled, but the fee status empty', fee(''), undefined],
    ['settled, but without a fee', { fee: null }, undefined],
    ['settled, but without a net amount', { net_amount: null }, undefined],
  ])('knows what was kept of a row that is %s: %s', async (_, overrides, kept) => {
    expect((await readRows(overrides))[0]?.keptMinor).toBe(kept)
  })

  it('takes no figure of a net in another currency', async () => {
    const net = { net_amount: 12.15, net_amount_currency: 'USD' }

    const [row] = await readRows({ amount: 200_000, ...net })

    expect(row).toMatchObject({ isForeignNet: true, providerMinor: 195_560, keptMinor: undefined })
  })

  const estimate = (time: string | null) => ({ estimated_settlement_time: time })

  it.each<[string, object, string | undefined]>([
    ['the estimate once it is past', {}, '2026-11-20T04:05:00.000Z'],
    [
      'the update when the estimate is still to come',
      estimate('2026-11-22T00:00:00Z'),
      SETTLED_TRANSACTION.updated,
    ],
    ['the update when there is no estimate', estimate(null), SETTLED_TRANSACTION.updated],
    ['the update when the estimate is no time', estimate('soon'), SETTLED_TRANSACTION.updated],
    ['a time without a zone, as UTC', estimate('2026-11-20T04:01:00'), '2026-11-20T04:01:00.000Z'],
    ['a time with an offset', estimate('2026-11-20T11:02:00+07:00'), '2026-11-20T04:02:00.000Z'],
    // The provider's own example has such a time.
    [
      'a time before the row was created',
      { created: '2026-11-20T04:05:01.315Z' },
      '2026-11-20T04:05:00.000Z',
    ],
    ['nothing before it is settled', { settlement_status: 'PENDING' }, undefined],
  ])('takes for the time of settlement %s', async (_, overrides, settledAt) => {
    expect((await readRows(overrides))[0]?.settledAt).toBe(settledAt)
  })

  it('reads a negative amount out, no type in other letters, no absent direction', async () => {
    const out = { amount: -25_000, net_amount: '-25000', fee: null, settlement_status: null }

    const others = [{ type: 'payment' }, { cashflow: null }]
    expect(await readRows({ type: 'REFUND', ...out }, ...others)).toMatchObject([
      { type: 'return', amountMinor: 25_000, providerMinor: 0 - 25_000 },
      { type: 'unknown' },
      { status: 'unknown' },
    ])
  })

  it.each([
    ['PAYMENT', 'toString', 'unknown', undefined],
    ['REFUND', 'SUCCESS', 'success', 'refund'],
    ['REFUND', 'REVERSED', 'reversed', undefined],
    ['CHARGEBACK', 'SUCCESS', 'success', 'chargeback'],
    ['chargeback_deduction', 'SUCCESS', 'success', 'chargeback'],
  ])(
    'reads a row of %s with status %s as %s, and its reversal as %s',
    async (type, sent, status, reversalKind) => {
      expect(await readRows({ type, status: sent })).toMatchObject([{ status, reversalKind }])
    },
  )

  it('reads only the rows that were asked for if the filter is ignored', async () => {
    const page = {
      has_more: null,
      data: [SETTLED_TRANSACTION, { ...SETTLED_TRANSACTION, product_id: 'py-2' }],
    }
    const { provider } = await scriptedProvider(json(200, page))

    const filter = { providerPaymentId: 'py-2', limit: 10 }
    expect(await provider.listTransactions(filter)).toMatchObject({
      value: { transactions: [{ providerPaymentId: 'py-2' }], hasMore: false },
    })
    expect(await provider.listTransactions({ reference: 'ref-2', limit: 10 })).toMatchObject({
      value: { transactions: [] },
    })
  })

  it('reads only a won dispute as money that is returned', async () => {
    const won = { type: 'CHARGEBACK_REVERSAL', status: 'SUCCESS' }
    const read = await readRows(won, { ...won, status: 'PENDING' })

    expect(read.map(({ isDisputeWon }) => isDisputeWon)).toStrictEqual([true, undefined])
  })

  it('reads the product of a refund only if it is the id of a payment', async () => {
    const refund = { type: 'REFUND', product_data: { payment_request_id: '' } }
    const read = await readRows({ ...refund, product_id: 'rfd-1' }, refund)

    expect(read).toMatchObject([
      { providerPaymentId: '', paymentRequestId: undefined },
      { providerPaymentId: 'py-1', paymentRequestId: undefined },
    ])
  })

  it('reads rows of other products, and long references', async () => {
    const text = { description: 7, channel_category: 'e-money' }
    const none = { reference_id: null, product_data: null, fee: 'none' }
    const foreign = { product_id: 'inv/1 ?', ...none, ...text, ...estimate(null) }

    expect(await readRows(foreign, { reference_id: 'x'.repeat(256) })).toMatchObject([
      {
        providerPaymentId: 'inv/1 ?',
        reference: '',
        paymentRequestId: undefined,
        keptMinor: undefined,
        settlesAt: undefined,
      },
      { providerPaymentId: 'py-1', reference: 'x'.repeat(255) },
    ])
  })

  it('names a row that it cannot read, and reads the other rows', async () => {
    const row = (id: string, fields: object = {}) => ({ ...SETTLED_TRANSACTION, id, ...fields })
    const unreadable = [
      row('txn_2', { amount: null }),
      row('txn_3', { amount: -1 }),
      row('txn_5', { created: null }),
      'not even an object',
      'nor this',
    ]
    const data = [row('txn_1'), ...unreadable, row('txn_4', { updated: 'yesterday' })]
    const { provider } = await scriptedProvider(json(200, { has_more: true, data }))

    const answer = await provider.listTransactions({ limit: 10 })

    const digests = ['4f6873d0e585e3b8', '3e1657b4b5d9fae9'].map(
      (digest) => `without an id ${digest}`,
    )
    const unreadableIds = ['txn_2', 'txn_3', 'txn_5', ...digests, 'txn_4']
    const value = {
      transactions: [{ transactionId: 'txn_1' }],
      unreadableIds,
      hasMore: true,
      afterId: 'txn_4',
    }
    expect(answer).toMatchObject({ kind: 'found', value })
  })
})
