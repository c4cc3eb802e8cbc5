import { describe, expect, it } from 'vitest'
import { ZERO } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import type { EntryDto } from '../../../shared/settlement/statement/entry-dto-schema.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import {
  API,
  type ApiResponse,
  anApi,
  call,
  nextPageOf,
  type Query,
} from '../../support/api-event.ts'
import {
  anOpenPayment,
  aSucceededPayment,
  postAssumed,
  storePosted,
  succeededPayment,
} from '../../support/paid-builders.ts'
import {
  ENTRIES_HEADER,
  fail,
  recredit,
  sweptADayLater,
  sweptNow,
} from '../../support/settlement-builders.ts'
import { queriesIn, recordTable } from '../../support/test-deps.ts'

async function entryPagesOf(ask: (query: Query) => Promise<ApiResponse>, limit: string) {
  const pages: (readonly EntryDto[])[] = []
  let after: Query = {}
  for (let more = true; more; ) {
    const { status, body } = await ask({ limit, ...after })
    expect(status).toBe(200)
    expect(pages.push(body['data'] as readonly EntryDto[])).toBeLessThan(100)
    more = body['has_more'] === true
    expect(typeof body['next']).toBe(more ? 'string' : 'object')
    after = { after: String(body['next']) }
  }
  return pages
}

function rowsIn({ body }: { readonly body: Readonly<Record<string, unknown>> }) {
  return body['data'] as readonly EntryDto[]
}

async function aMerchant() {
  const { deps, caller, ask } = await anApi({ settlementFloorMinor: ZERO })
  const entries = (query: Query = {}, headers: Query = {}) =>
    ask('listBalanceEntries', { query, headers })
  const entriesOf = (id: string, query: Query = {}, headers: Query = {}) =>
    ask('listSettlementPayments', { id, query, headers })
  return { deps, caller, entries, entriesOf }
}

async function aSettlement(count: number, fieldsOf: (at: number) => Partial<Payment> = () => ({})) {
  const merchant = await aMerchant()
  const { deps, caller } = merchant
  const openPayments = Array.from({ length: count }, (_, at) => ({
    ...succeededPayment(caller, {
      paidAt: addMs(deps.now(), at * 1_000),
      notionalMinor: 10_000 + at,
    }),
    ...fieldsOf(at),
  }))
  const payments = await storePosted(deps, openPayments)
  deps.clock.advance(count)
  const settlement = await sweptADayLater(deps, caller)
  const statement = (query?: Query, headers?: Query) =>
    merchant.entriesOf(settlement.settlementId, query, headers)
  return { ...merchant, payments, settlement, statement }
}

describe.each([
  ['/v1/balance/entries', 'entries'],
  ['/v1/settlements/{id}/payments', 'statement'],
] as const)('GET %s (design section 8)', (path, list) => {
  it.each([
    ['4', [4, 2]],
    ['6', [6]],
  ])(
    'shows each entry once in pages of %s, and names no next page on the last page',
    async (limit, lengths) => {
      const {
        deps,
        payments,
        settlement,
        [list]: ask,
      } = await aSettlement(6, () => ({ externalReference: 'order-7' }))

      const pages = await entryPagesOf(ask, limit)

      const rows = pages.flat()
      expect(pages.map(({ length }) => length)).toStrictEqual(lengths)
      expect(rows.map((row) => row.payment_id)).toStrictEqual(
        payments.map(({ paymentId }) => paymentId),
      )
      const fields = [
        'notional_minor',
        'xendit_fee_minor',
        'hexolus_markup_minor',
        'client_net_minor',
      ] as const
      const [grossMinor, feeMinor, markupMinor, netMinor] = fields.map((field) =>
        rows.reduce((total, row) => total + row[field], 0),
      )
      expect(settlement).toMatchObject({
        grossMinor,
        feeMinor,
        markupMinor,
        netMinor,
        paymentCount: 6,
      })
      expect(rows[0]).toStrictEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: 'payment',
        payment_id: payments[0]?.paymentId,
        settlement_id: settlement.settlementId,
        external_reference: 'order-7',
        method: 'virtual_account',
        channel_code: 'BCA',
        paid_at: payments[0]?.paidAt,
        posted_at: payments[0]?.postedAt,
        eligible_at: addMs(payments[0]?.paidAt ?? deps.now(), DAY_MS),
        notional_minor: 10_000,
        xendit_fee_minor: 4_000,
        hexolus_markup_minor: 10,
        client_net_minor: 5_990,
      })
    },
  )

  it('answers CSV if the caller accepts it, with quoted texts and the next page in the Link header', async () => {
    const { settlement, [list]: ask } = await aSettlement(3, () => ({ externalReference: 'a,"b"' }))
    const csv = { Accept: 'text/html, text/csv;q=0.9' }

    const first = await ask({ limit: '2' }, csv)
    const link = nextPageOf(first)
    const second = await ask(Object.fromEntries(link.searchParams), csv)

    const { settlementId } = settlement
    const rows = rowsIn(await ask()).map(
      ({ id, payment_id, paid_at, posted_at, eligible_at, ...row }) =>
        `"${id}","payment","${payment_id}",,"${settlementId}","a,""b""","virtual_account","BCA","${paid_at}","${posted_at}","${eligible_at}",` +
        `${row.notional_minor},${row.xendit_fee_minor},${row.hexolus_markup_minor},${row.client_net_minor},,\n`,
    )
    expect([first.text, second.text]).toStrictEqual([
      `${ENTRIES_HEADER}\n${rows[0]}${rows[1]}`,
      `${ENTRIES_HEADER}\n${rows[2]}`,
    ])
    expect(link.pathname).toBe(path.replace('{id}', settlementId))
    expect(link.searchParams.get('limit')).toBe('2')
    expect(first.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'cache-control': 'no-store',
    })
    expect(second.headers).not.toHaveProperty('link')
  })

  it('clamps a limit, and refuses a limit that is no number and a cursor of another list', async () => {
    const ofQris = () => ({ channelCode: undefined, method: 'qris' }) as const
    const [merchant, stranger] = [await aSettlement(2, ofQris), await aSettlement(2)]
    const { next } = (await stranger[list]({ limit: '0' })).body

    const [row, ...otherRows] = rowsIn(await merchant[list]({ limit: '9'.repeat(40) }))
    expect(otherRows).toHaveLength(1)
    expect(Object.keys(row ?? {})).toHaveLength(12)
    expect(Object.keys(row ?? {})).not.toEqual(
      expect.arrayContaining(['channel_code', 'external_reference']),
    )
    const queries: readonly Query[] = [{ limit: 'x' }, { after: 'x' }, { after: String(next) }]
    for (const query of queries) {
      const { status, body } = await merchant[list](query)
      expect([status, Object.keys(Object(body['field_errors']))]).toStrictEqual([
        422,
        Object.keys(query),
      ])
    }
  })
})

const [JSON_TYPE, CSV_TYPE] = ['application/json', 'text/csv; charset=utf-8']

it.each([
  ['*/*', JSON_TYPE],
  ['application/json', JSON_TYPE],
  ['text/csv-schema', JSON_TYPE],
  ['x-text/csv', JSON_TYPE],
  ['', JSON_TYPE],
  ['text/csv;q=0', JSON_TYPE],
  ['application/json;q=0.9, text/csv;q=0.1', JSON_TYPE],
  ['text/csv;q=0.5, */*', JSON_TYPE],
  ['text/csv; Q=0.5, application/*;q=0.4, */*', CSV_TYPE],
  ['text/csv, application/json, */*;q=0.1', CSV_TYPE],
  ['TEXT/CSV;charset=utf-8,', CSV_TYPE],
])('GET /v1/balance/entries answers the Accept header %j with %s', async (accept, contentType) => {
  const { entries } = await aMerchant()

  expect((await entries({}, { accept })).headers['content-type']).toBe(contentType)
})

it('CSV of entries has no reference that runs as a formula, and negative amounts as numbers', async () => {
  const cells = ["'=1+1", "'+62812", "'-5", "'@SUM(A1)", "'\tx", "'\rx", 'a=b']
  const referenceOf = (at: number) => cells[at]?.replace("'", '')
  const tiny = { notionalMinor: 1_000 as never, netMinor: -3_001 as never, markupMinor: 1 as never }
  const settled = await aSettlement(7, (at) => ({
    externalReference: referenceOf(at),
    ...(at === 0 && tiny),
  }))

  const { text } = await settled.statement({}, { accept: 'text/csv' })

  for (const cell of cells) expect(text).toContain(`,"${cell}","virtual_account",`)
  expect(text).toContain(',1000,4000,1,-3001,,\n')
})

it('GET /v1/balance/entries (design section 8) shows the journal with each entry’s settlement, from `since` on, and no open payment', async () => {
  const { deps, caller, entries, settlement } = await aSettlement(2)
  await recredit(deps, await fail(deps, settlement))
  const second = await sweptNow(deps, caller)
  const payment = await aSucceededPayment(deps, caller, { notionalMinor: 20_000 })
  await anOpenPayment(deps, caller)
  const { deps: recorded, calls } = recordTable(deps)

  const { body } = await call(recorded, API.listBalanceEntries, { caller })
  await call(recorded, API.listBalanceEntries, { caller, query: { limit: '1001' } })

  expect(body).toMatchObject({ next: null, has_more: false })
  expect(rowsIn({ body })).toMatchObject([
    { type: 'payment', settlement_id: settlement.settlementId },
    { type: 'payment', settlement_id: settlement.settlementId },
    {
      type: 'recredit',
      settlement_id: second.settlementId,
      recredited_settlement_id: settlement.settlementId,
      client_net_minor: 0,
      carried_minor: settlement.netMinor,
    },
    {
      type: 'payment',
      settlement_id: null,
      payment_id: payment.paymentId,
      client_net_minor: 15_980,
    },
  ])
  // A page costs one query of its entries and the next entry, and one query of settlements.
  const settlements = { index: 'by-owner', partition: [caller.clientId, 'settlement'] }
  const entriesRead = [101, 1_001].map((limit) => ({
    partition: [`JOURNAL#${caller.clientId}`],
    limit,
  }))
  expect(queriesIn(calls)).toMatchObject(entriesRead.flatMap((query) => [query, settlements]))

  const keys = calls.flatMap((asked) => (asked.name === 'batchGet' ? asked.keys : []))
  expect(keys.filter(({ sk }) => sk === 'SETTLEMENT')).toStrictEqual([])

  const [recent, future] = [
    await entries({ since: settlement.sweptUntil }),
    addMs(deps.now(), 3 * DAY_MS),
  ]
  expect(rowsIn(recent)).toMatchObject([{ type: 'recredit' }, { settlement_id: null }])
  expect((await entries({ since: future })).body).toStrictEqual({
    data: [],
    next: null,
    has_more: false,
  })
  expect((await entries({ since: 'yesterday' })).status).toBe(422)
})

it('GET /v1/settlements/{id}/payments (design section 8) names the failed settlement of a re-credit, and shows no row with zeros for the merchant', async () => {
  const { deps, caller, settlement } = await aSettlement(1)
  await recredit(deps, await fail(deps, settlement))
  const payment = await anOpenPayment(deps, caller)
  expect(await postAssumed(deps, payment)).toMatchObject({ finalFee: { status: 'assumed' } })
  const { settlementId: id, entryCount } = await sweptADayLater(deps, caller)
  const { deps: recorded, calls } = recordTable(deps)

  const page = (query: Query) => call(recorded, API.listSettlementPayments, { caller, id, query })

  const rows = (await entryPagesOf(page, '1')).flat()

  expect(entryCount).toBe(2)
  expect(rows).toMatchObject([
    {
      type: 'recredit',
      recredited_settlement_id: settlement.settlementId,
      client_net_minor: settlement.netMinor,
    },
    { type: 'payment', payment_id: payment.paymentId },
  ])
  expect(Object.keys(rows[0] ?? {})).toHaveLength(10)
  // Key and client are read once, and for each page the settlement and its entries. No
  // payment is read.
  const costs = ['get', 'query']
  expect(calls.map(({ name }) => name)).toStrictEqual(['batchGet', ...costs, ...costs])
})
