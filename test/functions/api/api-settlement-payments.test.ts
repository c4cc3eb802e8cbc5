import { describe, expect, it } from 'vitest'
import type { Payment } from '../../../shared/payment/payment.ts'
import { statementCursor } from '../../../shared/settlement/statement/statement-cursor.ts'
import { ownerOf, paymentKey } from '../../../shared/table/keys.ts'
import { put, update } from '../../../shared/table/step.ts'
import { addMs } from '../../../shared/time.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { storedSettlement } from '../../support/payout-builders.ts'
import { aDayLater, storeSucceeded, succeededPayment, sweptNow } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

type Row = Readonly<Record<string, string | number>>
type Query = Readonly<Record<string, string>>

/** A merchant with one settlement of so many payments, a second apart, each of another amount. */
const aSettled = async (count: number, fields: Partial<Payment> = {}, deps = testDeps()) => {
  const api = await anApi({ settlementFloorMinor: 0 as never }, deps)
  const payments = Array.from({ length: count }, (_, at) => ({
    ...succeededPayment(api.caller, { paidAt: addMs(deps.now(), at * 1_000), notionalMinor: 10_000 + at }),
    ...fields,
  }))
  await storeSucceeded(deps, payments)
  deps.clock.advance(count)
  aDayLater(deps)
  const settlement = await sweptNow(deps, api.caller)
  const ask = (query: Query = {}, headers: Query = {}, id = settlement.settlementId as string) =>
    call(deps, API.listSettlementPayments, { caller: api.caller, id, query, headers })
  return { ...api, deps, payments, settlement, ask }
}

type Settled = Awaited<ReturnType<typeof aSettled>>

/** Every page from the first one on. */
const pagesOf = async ({ ask }: Pick<Settled, 'ask'>, limit: string) => {
  const pages: (readonly Row[])[] = []
  let after: Query = {}
  for (let more = true; more; ) {
    const { status, body } = await ask({ limit, ...after })
    expect(status).toBe(200)
    pages.push(body['data'] as readonly Row[])
    more = body['has_more'] === true
    expect(typeof body['next']).toBe(more ? 'string' : 'object')
    after = { after: String(body['next']) }
  }
  return pages
}

const sum = (rows: readonly Row[], field: string) => rows.reduce((total, row) => total + Number(row[field]), 0)
const sumsOf = (rows: readonly Row[]) => ({
  grossMinor: sum(rows, 'notional_minor'),
  providerFeesMinor: sum(rows, 'xendit_fee_minor'),
  markupMinor: sum(rows, 'hexolus_markup_minor'),
  netMinor: sum(rows, 'client_net_minor'),
  paymentCount: rows.length,
})

describe('GET /v1/settlements/{id}/payments (design section 8)', () => {
  it('answers each payment once, by when it was paid, and their sums are the settlement’s', async () => {
    const settled = await aSettled(7, { externalReference: 'order-7' })

    const pages = await pagesOf(settled, '3')

    const rows = pages.flat()
    expect(pages.map((page) => page.length)).toStrictEqual([3, 3, 1])
    expect(rows.map((row) => row['payment_id'])).toStrictEqual(settled.payments.map(({ paymentId }) => paymentId))
    expect(settled.settlement).toMatchObject(sumsOf(rows))
    expect(rows[0]).toStrictEqual({
      payment_id: settled.payments[0]?.paymentId,
      external_reference: 'order-7',
      method: 'virtual_account',
      channel_code: 'BCA',
      paid_at: settled.payments[0]?.paidAt,
      notional_minor: 10_000,
      xendit_fee_minor: 4_000,
      hexolus_markup_minor: 10,
      client_net_minor: 5_990,
    })
  })

  it('leaves out what is not there', async () => {
    const [rows = []] = await pagesOf(await aSettled(1, { channelCode: undefined, method: 'qris' }), '100')

    expect(Object.keys(rows[0] ?? {})).toHaveLength(7)
    expect(Object.keys(rows[0] ?? {})).not.toContain('channel_code')
    expect(Object.keys(rows[0] ?? {})).not.toContain('external_reference')
  })

  it('is CSV for who asks for it, page by page by the Link header', async () => {
    const settled = await aSettled(3, { externalReference: 'a,"b"' })
    const csv = { Accept: 'text/html, text/csv;q=0.9' }

    const first = await settled.ask({ limit: '2' }, csv)
    const [, link = ''] = /^<(.+)>; rel="next"$/.exec(String(first.headers['link'])) ?? []
    const second = await settled.ask(Object.fromEntries(new URL(link, 'https://api.example').searchParams), csv)

    const header =
      'payment_id,external_reference,method,channel_code,paid_at,notional_minor,xendit_fee_minor,hexolus_markup_minor,client_net_minor'
    const line = ({ paymentId, paidAt, notionalMinor, providerFeeMinor, markupMinor, netMinor }: Payment) =>
      `${paymentId},"a,""b""",virtual_account,BCA,${paidAt},${notionalMinor},${providerFeeMinor},${markupMinor},${netMinor}`
    const [one, two, three] = settled.payments.map(line)
    expect([first.text, second.text]).toStrictEqual([`${header}\n${one}\n${two}\n`, `${header}\n${three}\n`])
    expect(new URL(link, 'https://api.example').pathname).toBe(
      `/v1/settlements/${settled.settlement.settlementId}/payments`,
    )
    expect(first.headers).toMatchObject({ 'content-type': 'text/csv; charset=utf-8', 'cache-control': 'no-store' })
    expect(second.headers).not.toHaveProperty('link')
  })

  it.each([
    ['=1+1', "'=1+1"],
    ['+62812', "'+62812"],
    ['-5', "'-5"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', '"\'\rx"'],
    ['a=b', 'a=b'],
    ['', ''],
  ])(
    'writes a reference %j so that no spreadsheet runs it, and a negative amount as a number',
    async (reference, cell) => {
      const negative = {
        netMinor: -5 as Payment['netMinor'],
        providerFeeMinor: 10_000 as Payment['netMinor'],
        markupMinor: 5 as Payment['netMinor'],
      }
      const settled = await aSettled(2)
      const [payment] = settled.payments
      if (payment)
        await settled.deps.table.write(
          update(paymentKey(payment.paymentId), { set: { externalReference: reference, ...negative } }),
        )

      const { text } = await settled.ask({}, { accept: 'text/csv' })

      expect(text).toContain(`${payment?.paymentId},${cell},virtual_account,`)
      expect(text).toContain(',10000,5,-5\n')
    },
  )

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
  ])('of %i in pages of %s says that nothing is behind it', async (count, limit, lengths) => {
    const settled = await aSettled(count)

    const pages = await pagesOf(settled, limit)
    const whole = await settled.ask({ limit: String(count) }, { accept: 'text/csv' })

    expect(pages.map((page) => page.length)).toStrictEqual(lengths)
    expect(whole.headers).not.toHaveProperty('link')
  })
})

describe('a settlement of 2,000 payments', () => {
  it('costs a page its own payments, wherever it lies', async () => {
    const deps = memoryDeps()
    const { caller } = await anApi({}, deps)
    const settlement = await storedSettlement(deps, { clientId: caller.clientId, paymentCount: 2_000 })
    const at = (number: number) => ({
      paidAt: addMs(settlement.periodStart, number),
      id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}` as Payment['paymentId'],
    })
    const whole = succeededPayment(caller, { paidAt: settlement.periodStart })
    for (let number = 0; number < 2_000; number++) {
      const { paidAt, id } = at(number)
      const row = {
        ...whole,
        paidAt,
        owner: ownerOf(caller.clientId),
        entity: 'payment',
        listedAt: paidAt,
        id,
      }
      deps.memory.requests.write(put(paymentKey(id), row))
    }

    const costs = []
    for (const number of [0, 1_000, 1_500, 1_899]) {
      const watched = recordTable(deps)
      const query = number === 0 ? undefined : { after: statementCursor(settlement, at(number)) }
      const asked = { caller, id: settlement.settlementId, ...(query && { query }) }
      const { body } = await call(watched.deps, API.listSettlementPayments, asked)
      const keys = watched.calls.flatMap((made) => ('keys' in made ? made.keys : []))
      costs.push([
        (body['data'] as readonly Row[]).length,
        watched.calls.map(({ name }) => name).join(' '),
        keys.length,
      ])
    }

    expect(new Set(costs.map(String)).size).toBe(1)
    expect(costs[0]?.[0]).toBe(100)
  })
})
