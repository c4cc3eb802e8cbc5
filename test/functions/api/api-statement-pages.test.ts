import { describe, expect } from 'vitest'
import { derivedUuid } from '../../../shared/ids.ts'
import { bookDay } from '../../../shared/journal/day-totals.ts'
import { figuresOf, newEntry } from '../../../shared/journal/entry.ts'
import { putEntry } from '../../../shared/journal/entry-store.ts'
import { readEntries } from '../../../shared/journal/read-entries.ts'
import { minor, ZERO } from '../../../shared/money.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { API, call, nextPageOf } from '../../support/api-event.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { payOut, sweptADayLater, sweptNow } from '../../support/settlement-builders.ts'
import { putRaw, type Raw, rawItem } from '../../support/tampering.ts'
import { withoutTopic } from '../../support/test-deps.ts'
import { payoutHistory } from './payout-history.ts'
import {
  aStatementMerchant,
  closeDays,
  statementTest as it,
  totalOfLines,
} from './statement-merchant.ts'

describe('pages of GET /v1/statement (design section 8)', () => {
  it('has the same lines in pages of any size, knows the closing of final days on each page, and refuses a cursor of other days', async ({
    deps,
    client,
    ask,
    pages,
  }) => {
    await Array.fromAsync(payoutHistory(deps, client))
    deps.clock.advance(3 * 86_400)
    const midnight = await closeDays(deps, client)
    const days = { from: '2026-11-20', to: '2026-11-27' }
    const [whole] = await pages(days)

    for (const limit of ['1', '2', '3', '7', '8', '1000']) {
      const all = await pages({ ...days, limit })

      expect(all.flatMap(({ lines }) => lines)).toStrictEqual(whole?.lines)
      expect(all.every(({ lines }) => lines.length <= Number(limit))).toBe(true)
      for (const page of all)
        expect(page).toMatchObject({
          opening_minor: 0,
          closing_minor: 25_950,
          final_until: midnight,
        })
      const after = all[0]?.next
      for (const day of ['from', 'to'])
        if (after)
          expect((await ask({ ...days, [day]: '2026-11-21', limit, after })).status).toBe(422)
    }
  })

  it('keeps its figures between pages while payments are posted, and closes at what it showed', async ({
    deps,
    client,
    statement,
  }) => {
    for (const amount of [100_000, 50_000, 70_000]) {
      await aSucceededPayment(deps, client, { notionalMinor: amount })
      deps.clock.advance(60)
    }
    const first = await statement({ limit: '2' })
    // The later payment has a place after the page, the earlier one before it.
    await aSucceededPayment(deps, client, { notionalMinor: 30_000 })
    const earlier = addMs(deps.now(), -600_000)
    await aSucceededPayment(deps, client, { notionalMinor: 20_000, paidAt: earlier })

    const second = await statement({ limit: '2', after: first.next ?? '' })

    expect([first.closing_minor, second.next]).toStrictEqual([null, null])
    const lines = [...first.lines, ...second.lines]
    expect(lines.map(({ amount_minor }) => amount_minor)).toStrictEqual([
      95_900, 45_950, 65_930, 25_970,
    ])
    expect(second).toMatchObject({ opening_minor: 0, closing_minor: totalOfLines(lines) })
    expect((await statement()).closing_minor).toBe(totalOfLines(lines) + 15_980)
  })

  it('answers CSV with the balance after each line, and the next page in the Link header; in an operator’s file a further page has no header', async ({
    deps,
    client,
    ask,
  }) => {
    await aSucceededPayment(deps, client, { externalReference: '=1+1' })
    await payOut(deps, await sweptADayLater(deps, client))
    const csv = { accept: 'text/csv' }

    const first = await ask({ from: '2026-11-20', limit: '1' }, csv)
    const link = nextPageOf(first)
    const second = await ask(Object.fromEntries(link.searchParams), csv)
    const asked = { client_id: client.clientId, from: '2026-11-20', format: 'csv' }
    const fileOf = async (cursor?: unknown) =>
      Object((await invokeAdmin('get-statement', deps, { ...asked, cursor })).body).csv

    const header = 'at,type,payment_id,settlement_id,external_reference,amount_minor,balance_minor'
    expect(link.pathname).toBe('/v1/statement')
    expect(link.searchParams.get('limit')).toBe('1')
    expect(first.text).toMatch(
      new RegExp(`^${header}\n"[^"]+Z","payment","[0-9a-f-]{36}",,"'=1\\+1",95900,95900\n$`),
    )
    expect(second.text).toMatch(
      new RegExp(`^${header}\n"[^"]+Z","payout",,"[0-9a-f-]{36}",,-95900,0\n$`),
    )
    expect(second.headers).not.toHaveProperty('link')
    const rest = second.text.slice(header.length + 1)
    expect(await fileOf()).toBe(first.text + rest)
    expect(await fileOf(link.searchParams.get('after'))).toBe(rest)
  })
})

it('GET /v1/statement of a merchant with too many unsettled entries asks for an earlier day, and a page of entries takes ten queries at most', async ({
  deps,
  client,
  ask,
  statement,
  pages,
}) => {
  const count = 5_000
  const start = deps.now()
  const addEntry = (number: number) => {
    const entryId = derivedUuid('many', String(number))
    const at = addMs(start, number)
    const figures = { ...figuresOf(minor(10), ZERO, ZERO), otherMinor: minor(-10) }
    const entry = newEntry({
      entryId,
      type: 'correction',
      eligibleAt: at,
      postedAt: at,
      ...figures,
    })
    return deps.table.write(putEntry(client.clientId, entry))
  }
  for (let number = 1; number < count; number++) await addEntry(number)
  deps.clock.advance(2 * 86_400)
  expect((await ask({ from: '2026-11-22' })).status).toBe(200)
  await addEntry(count)
  const journal = { clientId: client.clientId, span: { start, end: deps.now() } }
  const part = await readEntries(deps, { ...journal, limit: 99 }, () => false)
  expect(part).toMatchObject({ entries: [], next: { eligibleAt: addMs(start, 1_000) } })

  const { status, body } = await ask({ from: '2026-11-22' })
  const all = await pages({ from: '2026-11-18', limit: '1000' })

  expect([status, body['field_errors']]).toMatchObject([
    422,
    { from: [expect.stringMatching(/give 2026-11-19 or an earlier day/)] },
  ])
  const lines = all.flatMap((page) => page.lines)
  expect([lines.length, all.at(-1)?.closing_minor]).toStrictEqual([count, count * 10])
  expect(lines.map(({ at }) => at)).toStrictEqual(lines.map(({ at }) => at).toSorted())
  await sweptNow(deps, client)
  expect(await statement({ from: '2026-11-22' })).toMatchObject({ opening_minor: count * 10 })
})

type Total = Readonly<Record<string, number>>
type Forgery = (...of: Parameters<typeof raisedAlone>) => object

async function aSettledMonth() {
  const merchant = await aStatementMerchant()
  const { deps, client } = merchant
  await aSucceededPayment(deps, client)
  await aSucceededPayment(deps, client, { notionalMinor: 50_000 })
  const settlement = await sweptADayLater(deps, client)
  deps.clock.advance(3 * 86_400)
  await closeDays(deps, client)
  const key = settlementKey(settlement.settlementId)
  const forge = async (change: Forgery) => {
    const row = await rawItem(deps, key)
    const [first = {}, ...others] = row['totals'] as readonly Total[]
    await putRaw(deps, { ...row, ...change(row, first, others) })
  }
  return { ...merchant, settlement, forge }
}

const DAYS = { from: '2026-11-20', to: '2026-11-21' }

function raisedAlone(_: Raw, first: Total, others: readonly Total[]) {
  const { grossMinor = 0, netMinor = 0, providerMinor = 0 } = first
  const raised = { grossMinor: grossMinor + 1, netMinor: netMinor + 1 }
  return { totals: [{ ...first, ...raised, providerMinor: providerMinor + 1 }, ...others] }
}

function raisedWithSums(row: Raw, first: Total, others: readonly Total[]) {
  return {
    ...raisedAlone(row, first, others),
    gross_minor: Number(row['gross_minor']) + 1,
    net_minor: Number(row['net_minor']) + 1,
  }
}

describe('GET /v1/statement when its two sources differ', () => {
  it.each([
    ['a total alone', raisedAlone],
    ['a total and the sums of its settlement', raisedWithSums],
  ])('answers 500 with a finding and one alert when %s is forged', async (_, change) => {
    const { deps, client, ask, forge } = await aSettledMonth()
    await forge(change)

    const answers = [await ask(DAYS), await ask({ ...DAYS, limit: '5' })]

    for (const { status, body } of answers)
      expect([status, body['code']]).toStrictEqual([500, 'internal_error'])
    const subject = `${client.clientId}#${bookDay(deps.now())}#statement_differs`
    expect(deps.published).toStrictEqual([
      {
        kind: 'suspense.finding',
        subject,
        message: expect.stringContaining(`audit-ledger --client_id ${client.clientId}`),
      },
    ])
    expect(await rawItem(deps, { pk: `SUSPENSE#${subject}`, sk: 'SUSPENSE' })).toMatchObject({
      kind: 'finding',
      status: 'open',
      client_id: client.clientId,
    })
  })

  it('answers 500 on the page that passes the last final day', async () => {
    const { deps, ask, forge, statement } = await aSettledMonth()
    const { next } = await statement({ ...DAYS, limit: '1' })
    await forge(raisedWithSums)
    const forged = await ask({ ...DAYS, limit: '1' })
    const after = Object(JSON.parse(forged.text)).next

    expect((await ask({ ...DAYS, limit: '1', after: next ?? '' })).status).toBe(200)
    expect((await ask({ ...DAYS, limit: '1', after })).status).toBe(500)
    expect(deps.published).toHaveLength(1)
  })

  it('answers 500 when an entry of a final day is not in its settlement', async () => {
    const { deps, client, ask, settlement } = await aSettledMonth()
    const at = addMs(settlement.sweptFrom, 5_000)
    const entry = newEntry({
      entryId: derivedUuid('forged', client.clientId),
      type: 'correction',
      eligibleAt: at,
      postedAt: at,
      ...figuresOf(minor(7), ZERO, ZERO),
      otherMinor: minor(-7),
    })
    await deps.table.write(putEntry(client.clientId, entry))

    expect((await ask(DAYS)).status).toBe(500)
    expect(deps.published).toHaveLength(1)
  })

  it.each([
    ['balance', () => ({ balanceMinor: 1 })],
    ['day', ({ position }) => ({ position: { ...position, day: 'x' } })],
    ['last final day', () => ({ checked: { day: '2031-01-01', minor: 1 } })],
    ['sum of the last final day', ({ checked }: Kept) => ({ checked: { ...checked, minor: 1 } })],
    ['final day of today', ({ to }: Kept) => ({ checked: { day: to, minor: 1 } })],
    ['first day', () => ({ from: '1971-01-01', position: { day: '1971-01-01' } })],
  ])(
    'takes a cursor whose %s its caller altered for what it is: 422, and nothing is written',
    async (_, change) => {
      const { deps, client, settlement, ask, statement } = await aSettledMonth()
      await payOut(deps, settlement)
      deps.clock.advance(86_400)
      await closeDays(deps, client)
      await aSucceededPayment(deps, client)
      deps.published.length = 0
      const { next } = await statement({ from: DAYS.from, limit: '1' })
      const kept = JSON.parse(Buffer.from(next ?? '', 'base64url').toString())
      const altered = { ...kept, ...change(kept) }
      const after = Buffer.from(JSON.stringify(altered)).toString('base64url')

      const { status } = await ask({ limit: '100', after })

      expect(status).toBe(422)
      expect(deps.published).toStrictEqual([])
      expect(deps.changes.map(({ key }) => key.pk.split('#')[0])).not.toContain('SUSPENSE')
    },
  )

  it('keeps the finding when the alert fails, and tells later', async () => {
    const { deps, client, forge } = await aSettledMonth()
    await forge(raisedAlone)
    const silent = withoutTopic(deps)

    const { status } = await call(silent, API.getStatement, { caller: client, query: DAYS })

    const pk = `SUSPENSE#${client.clientId}#${bookDay(deps.now())}#statement_differs`
    expect(status).toBe(500)
    expect(await rawItem(deps, { pk, sk: 'SUSPENSE' })).toMatchObject({ work: 'alert' })
  })
})

type Kept = { readonly to: string; readonly position: object; readonly checked: object }
