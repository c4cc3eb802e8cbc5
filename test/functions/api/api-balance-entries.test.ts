import { describe, expect, it } from 'vitest'
import { changeClient } from '../../../shared/client/client-store.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { entryPagesOf, nextLinkOf } from '../../support/entry-pages.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { anOpenPayment, aSucceededPayment, storePosted, succeededPayment } from '../../support/paid-builders.ts'
import { aDayLater, fail, recredit, sweptNow } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

type Query = Readonly<Record<string, string>>

const aMerchant = async (fields: Parameters<typeof anApi>[0] = {}) => {
  const deps = testDeps()
  const { caller } = await anApi({ settlementFloorMinor: 0 as never, ...fields }, deps)
  const ask = (query: Query = {}, headers: Query = {}) => call(deps, API.listBalanceEntries, { caller, query, headers })
  return { deps, caller, ask }
}

/** Two payments in a settlement that failed, its re-credit in a second one, and a payment that no settlement has yet. */
const aHistory = async () => {
  const merchant = await aMerchant()
  const { deps, caller } = merchant
  const taken = [
    await aSucceededPayment(deps, caller),
    await aSucceededPayment(deps, caller, { notionalMinor: 50_000 }),
  ]
  aDayLater(deps)
  const failed = await sweptNow(deps, caller)
  await fail(deps, failed)
  await recredit(deps, failed)
  deps.clock.advance(60)
  const second = await sweptNow(deps, caller)
  const waiting = await aSucceededPayment(deps, caller, { notionalMinor: 20_000 })
  await anOpenPayment(deps, caller)
  return { ...merchant, taken, failed, second, waiting }
}

describe('GET /v1/balance/entries (design section 8)', () => {
  it('answers the journal with the settlement that took each entry, and no open payment', async () => {
    const { ask, taken, failed, second, waiting } = await aHistory()

    const { body } = await ask()

    const rows = body['data'] as readonly Query[]
    expect(new Set(rows.slice(0, 2).map((row) => row['payment_id']))).toStrictEqual(
      new Set(taken.map(({ paymentId }) => paymentId)),
    )
    expect(rows.map((row) => [row['type'], row['settlement_id']])).toStrictEqual([
      ['payment', failed.settlementId],
      ['payment', failed.settlementId],
      ['recredit', second.settlementId],
      ['payment', null],
    ])
    expect(rows[2]).toMatchObject({ recredited_settlement_id: failed.settlementId, client_net_minor: 141_850 })
    expect(rows[3]).toStrictEqual({
      id: expect.any(String),
      type: 'payment',
      payment_id: waiting.paymentId,
      settlement_id: null,
      method: 'virtual_account',
      channel_code: 'BCA',
      paid_at: waiting.paidAt,
      posted_at: waiting.postedAt,
      notional_minor: 20_000,
      xendit_fee_minor: 4_000,
      hexolus_markup_minor: 20,
      client_net_minor: 15_980,
    })
    expect(body).toMatchObject({ next: null, has_more: false })
  })

  it.each(['1', '2', '3', '4'])('shows each entry once in pages of %s', async (limit) => {
    const { ask } = await aHistory()

    const whole = (await ask()).body['data']

    expect((await entryPagesOf(ask, limit)).flat()).toStrictEqual(whole)
  })

  it('begins at a time, that of the last settlement’s end', async () => {
    const { ask, failed } = await aHistory()

    const { body } = await ask({ since: failed.sweptUntil })

    expect(body['data']).toMatchObject([{ type: 'recredit' }, { type: 'payment', settlement_id: null }])
  })

  it('is CSV for a caller that asks for it, page by page by the Link header', async () => {
    const { ask } = await aHistory()
    const csv = { accept: 'text/csv' }

    const first = await ask({ limit: '3', since: '2026-11-01T00:00:00Z' }, csv)
    const second = await ask(Object.fromEntries(nextLinkOf(first).searchParams), csv)

    expect(nextLinkOf(first).pathname).toBe('/v1/balance/entries')
    expect(first.text.split('\n')).toHaveLength(5)
    const [, line = ''] = second.text.split('\n')
    expect(line).toMatch(/^"[0-9a-f-]{36}","payment","[0-9a-f-]{36}",,,,"virtual_account","BCA","[^"]+","[^"]+",20000,/)
    expect(second.headers).not.toHaveProperty('link')
  })

  it('merges the parts of a client in the order of the journal', async () => {
    const { deps, caller, ask } = await aMerchant()
    await changeClient(deps, { clientId: caller.clientId, operator: 'sari', changes: { ledgerParts: 3 } })
    const open = Array.from({ length: 9 }, (_, at) => ({
      ...succeededPayment(caller, { paidAt: addMs(deps.now(), at * 1_000) }),
      part: at % 3 || undefined,
    }))
    await storePosted(deps, open)

    const rows = (await entryPagesOf(ask, '2')).flat()

    expect(rows.map((row) => row.payment_id)).toStrictEqual(open.map(({ paymentId }) => paymentId))
  })

  it('costs a page one query of its entries and one of settlements', async () => {
    const { deps, caller } = await aHistory()
    const { deps: recorded, calls } = recordTable(deps)

    await call(recorded, API.listBalanceEntries, { caller })

    const queries = calls.flatMap((made) => ('query' in made ? [made.query] : []))
    expect(queries.map(({ partition, index }) => [index, partition[0]])).toStrictEqual([
      [undefined, `JOURNAL#${caller.clientId}`],
      ['by-owner', caller.clientId],
    ])
  })

  it('refuses a cursor of another merchant, and a time that is none', async () => {
    const { ask } = await aHistory()
    const others = await aHistory()
    const { next } = (await others.ask({ limit: '1' })).body

    const refused = [await ask({ after: String(next) }), await ask({ since: 'yesterday' }), await ask({ limit: 'x' })]

    expect(refused.map(({ status }) => status)).toStrictEqual([422, 422, 422])
  })

  it('is empty for a merchant without money, and after the last entry', async () => {
    const { ask } = await aMerchant()
    const { deps, ask: late } = await aHistory()

    const nothing = { data: [], next: null, has_more: false }
    expect((await ask()).body).toStrictEqual(nothing)
    expect((await late({ since: addMs(deps.now(), 3 * DAY_MS) })).body).toStrictEqual(nothing)
  })
})
