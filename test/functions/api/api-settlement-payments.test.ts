import { describe, expect, it } from 'vitest'
import type { Payment } from '../../../shared/payment/payment.ts'
import { addMs } from '../../../shared/time.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { entryPagesOf, nextLinkOf, sumsOfEntries } from '../../support/entry-pages.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { post, postAssumed, storeOpen, storePosted, succeededPayment } from '../../support/paid-builders.ts'
import { storedSettlement } from '../../support/payout-builders.ts'
import { aStoredLine, putEntries } from '../../support/recount/stored-entries.ts'
import { aDayLater, fail, recredit, sweptNow } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

type Query = Readonly<Record<string, string>>

/** A merchant with one settlement of so many payments, a second apart, each of another amount. */
const aSettled = async (count: number, fields: Partial<Payment> = {}, deps = testDeps()) => {
  const api = await anApi({ settlementFloorMinor: 0 as never }, deps)
  const open = Array.from({ length: count }, (_, at) => ({
    ...succeededPayment(api.caller, { paidAt: addMs(deps.now(), at * 1_000), notionalMinor: 10_000 + at }),
    ...fields,
  }))
  const payments = await storePosted(deps, open)
  deps.clock.advance(count)
  aDayLater(deps)
  const settlement = await sweptNow(deps, api.caller)
  const ask = (query: Query = {}, headers: Query = {}, id = settlement.settlementId as string) =>
    call(deps, API.listSettlementPayments, { caller: api.caller, id, query, headers })
  return { ...api, deps, payments, settlement, ask }
}

const CSV = { accept: 'text/csv' }

const HEADER =
  'id,type,payment_id,recredited_settlement_id,settlement_id,external_reference,method,channel_code,paid_at,posted_at,notional_minor,xendit_fee_minor,hexolus_markup_minor,client_net_minor'

describe('GET /v1/settlements/{id}/payments (design section 8)', () => {
  it('answers each entry once, in the order of the journal, and their sums are the settlement’s', async () => {
    const settled = await aSettled(7, { externalReference: 'order-7' })

    const pages = await entryPagesOf(settled.ask, '3')

    const rows = pages.flat()
    expect(pages.map((page) => page.length)).toStrictEqual([3, 3, 1])
    expect(rows.map((row) => row.payment_id)).toStrictEqual(settled.payments.map(({ paymentId }) => paymentId))
    expect(settled.settlement).toMatchObject({ ...sumsOfEntries(rows), paymentCount: 7 })
    expect(rows[0]).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'payment',
      payment_id: settled.payments[0]?.paymentId,
      settlement_id: settled.settlement.settlementId,
      external_reference: 'order-7',
      method: 'virtual_account',
      channel_code: 'BCA',
      paid_at: settled.payments[0]?.paidAt,
      posted_at: settled.payments[0]?.postedAt,
      notional_minor: 10_000,
      xendit_fee_minor: 4_000,
      hexolus_markup_minor: 10,
      client_net_minor: 5_990,
    })
  })

  it('names the failed settlement of a re-credit, and shows no row with zeros for the merchant', async () => {
    const deps = testDeps()
    const { caller, settlement: failed } = await aSettled(1, {}, deps)
    await fail(deps, failed)
    await recredit(deps, failed)
    const assumed = succeededPayment(caller, { paidAt: deps.now() })
    await storeOpen(deps, [assumed])
    const { finalFee } = await postAssumed(deps, assumed)
    expect(finalFee).toMatchObject({ status: 'assumed' })
    aDayLater(deps)
    const { settlementId: id, entryCount } = await sweptNow(deps, caller)

    const { body } = await call(deps, API.listSettlementPayments, { caller, id })

    expect(entryCount).toBe(2)
    expect(body['data']).toMatchObject([
      { type: 'recredit', recredited_settlement_id: failed.settlementId, client_net_minor: failed.netMinor },
      { type: 'payment', payment_id: assumed.paymentId },
    ])
    expect(Object.keys((body['data'] as readonly object[])[0] ?? {})).toHaveLength(9)
  })

  it('leaves out what is not there', async () => {
    const [rows = []] = await entryPagesOf((await aSettled(1, { channelCode: undefined, method: 'qris' })).ask, '100')

    expect(Object.keys(rows[0] ?? {})).toHaveLength(11)
    expect(Object.keys(rows[0] ?? {})).not.toContain('channel_code')
    expect(Object.keys(rows[0] ?? {})).not.toContain('external_reference')
  })

  it('is CSV for a caller that asks for it, page by page by the Link header, with every text quoted', async () => {
    const settled = await aSettled(3, { externalReference: 'a,"b"' })
    const csv = { Accept: 'text/html, text/csv;q=0.9' }

    const first = await settled.ask({ limit: '2' }, csv)
    const link = nextLinkOf(first)
    const second = await settled.ask(Object.fromEntries(link.searchParams), csv)

    const { settlementId } = settled.settlement
    const rows = (await entryPagesOf(settled.ask, '3')).flat()
    const lines = rows.map(
      ({ id, payment_id, paid_at, posted_at, ...row }) =>
        `"${id}","payment","${payment_id}",,"${settlementId}","a,""b""","virtual_account","BCA","${paid_at}","${posted_at}",` +
        `${row.notional_minor},${row.xendit_fee_minor},${row.hexolus_markup_minor},${row.client_net_minor}\n`,
    )
    const [one, two, three] = lines
    expect([first.text, second.text]).toStrictEqual([`${HEADER}\n${one}${two}`, `${HEADER}\n${three}`])
    expect(link.pathname).toBe(`/v1/settlements/${settlementId}/payments`)
    expect(first.headers).toMatchObject({ 'content-type': 'text/csv; charset=utf-8', 'cache-control': 'no-store' })
    expect(second.headers).not.toHaveProperty('link')
  })

  it.each([
    ['=1+1', "'=1+1"],
    ['+62812', "'+62812"],
    ['-5', "'-5"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', "'\rx"],
    ['a=b', 'a=b'],
  ])('writes a reference %j so that no spreadsheet runs it', async (externalReference, cell) => {
    const settled = await aSettled(1, { externalReference })

    const { text } = await settled.ask({}, CSV)

    expect(text).toContain(`,"${cell}","virtual_account",`)
  })

  it('writes a negative amount as a number', async () => {
    const deps = testDeps()
    const { caller } = await anApi({ settlementFloorMinor: 0 as never }, deps)
    const [tiny, large] = [1_000, 100_000].map((notionalMinor) =>
      succeededPayment(caller, { paidAt: deps.now(), notionalMinor }),
    )
    if (tiny && large) await storeOpen(deps, [tiny, large])
    for (const payment of [tiny, large]) if (payment) await post(deps, payment)
    aDayLater(deps)
    const { settlementId: id } = await sweptNow(deps, caller)

    const { text } = await call(deps, API.listSettlementPayments, { caller, id, headers: CSV })

    expect(text).toContain(',1000,4000,1,-3001\n')
  })

  it.each([['*/*'], ['application/json'], ['text/csv-schema'], ['x-text/csv'], ['']])(
    'is JSON for Accept: %j',
    async (accept) => {
      const { headers } = await (await aSettled(1)).ask({}, { accept })

      expect(headers['content-type']).toBe('application/json')
    },
  )

  it('clamps a limit, and refuses one that is none, and a cursor of another settlement', async () => {
    const settled = await aSettled(2)
    const other = await storedSettlement(settled.deps, { clientId: settled.caller.clientId })
    const { next } = (await settled.ask({ limit: '0' })).body

    const clamped = await settled.ask({ limit: '9'.repeat(40) })
    const refused = [await settled.ask({ limit: 'x' }), await settled.ask({ after: 'x' })]
    refused.push(await settled.ask({ after: String(next) }, {}, other.settlementId))

    expect(clamped.body['data']).toHaveLength(2)
    expect(refused.map(({ status }) => status)).toStrictEqual([422, 422, 422])
    expect(refused.map(({ body }) => Object.keys(Object(body['field_errors'])))).toStrictEqual([
      ['limit'],
      ['after'],
      ['after'],
    ])
  })
})

describe('the last page of a settlement’s payments', () => {
  it.each([
    [6, '3', [3, 3]],
    [6, '6', [6]],
    [2, '1', [1, 1]],
  ])('of %i in pages of %s says that nothing follows it', async (count, limit, lengths) => {
    const settled = await aSettled(count)

    const pages = await entryPagesOf(settled.ask, limit)
    const whole = await settled.ask({ limit: String(count) }, CSV)

    expect(pages.map((page) => page.length)).toStrictEqual(lengths)
    expect(whole.headers).not.toHaveProperty('link')
  })
})

describe('a settlement of 2,000 payments', () => {
  it('costs a page its own entries and reads no payment, wherever it lies', async () => {
    const deps = memoryDeps()
    const { caller } = await anApi({}, deps)
    const settlement = await storedSettlement(deps, { clientId: caller.clientId, paymentCount: 2_000 })
    const lines = Array.from({ length: 2_000 }, (_, at) => aStoredLine(at, addMs(settlement.sweptFrom, at)))
    await putEntries(deps, caller.clientId, lines)

    const costs = []
    let after = {}
    for (let page = 0; page < 20; page++) {
      const watched = recordTable(deps)
      const asked = { caller, id: settlement.settlementId, query: after }
      const { body } = await call(watched.deps, API.listSettlementPayments, asked)
      after = { after: String(body['next']) }
      costs.push([(body['data'] as readonly object[]).length, watched.calls.map(({ name }) => name).join(' ')])
    }

    expect(new Set(costs.map(String)).size).toBe(1)
    expect(costs[0]?.[0]).toBe(100)
    expect(String(costs[0]?.[1])).toMatch(/query$/)
  })
})
