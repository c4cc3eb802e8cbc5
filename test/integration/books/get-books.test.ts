import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { handler as getBooks } from '../../../functions/admin/get-books.ts'
import { handler as recredit } from '../../../functions/admin/recredit-settlement.ts'
import { bookOfLines, bookOfPayout } from '../../../shared/books/book.ts'
import { walkClients } from '../../../shared/client/client-register.ts'
import { NO_LEGS } from '../../../shared/journal/entry.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { minor } from '../../../shared/money.ts'
import { markClosed } from '../../../shared/settlement/settlement-store.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, sweptNow, withoutFloor } from '../../support/settlement-builders.ts'
import { depsWithLateIndexes, memoryDeps, queriesIn, recordTable } from '../../support/test-deps.ts'
import { aPosted, Body, booksOf, booksTest as it, MONTH } from './books-world.ts'

describe('get-books (design section 12)', () => {
  it('shows the month so far, with figures computed by hand, and its trial balance', async ({
    deps,
  }) => {
    expect(await booksOf(deps)).toStrictEqual({
      from: '2026-11-01',
      to: '2026-11-22',
      figures: MONTH,
      balanced: true,
    })
    const claims = MONTH.clients + MONTH.in_suspense + MONTH['closing.markup'] + MONTH.cost
    expect(MONTH.at_provider + MONTH.at_bank).toBe(claims)
    const { fees, markup, taken_back: back, given_back: again, paid_out: out, clients } = MONTH
    expect(350_000 - fees - markup - back + again + 10_000 + 5_000 - out).toBe(clients)
  })

  it('shows every figure, even zero, with its source', async () => {
    const { figures } = v.parse(Body, (await invokeAdmin(getBooks, memoryDeps(), {})).body)

    const names = figures.map(({ name }) => name)
    expect(names.slice(0, 12)).toStrictEqual([
      ...['virtual_account', 'ewallet', 'qris'].map((method) => `taken_in.${method}`),
      ...'fees markup taken_back given_back'.split(' '),
      ...'recovered returned written_off correction paid_out'.split(' '),
    ])
    const accounts = 'clients markup at_provider at_bank transit in_suspense cost other'.split(' ')
    for (const account of accounts)
      expect(names).toEqual(expect.arrayContaining([`opening.${account}`, account]))
    expect(names.slice(-3)).toStrictEqual(['owed_to_clients', 'owed_by_clients', 'open'])
    expect(figures.every(({ source }) => source.length > 0)).toBe(true)
  })

  it.for<[string, { readonly ofA?: true; readonly from?: string; readonly to?: string }, object]>([
    [
      'the balances at the end of the last day in Jakarta',
      { to: '2026-11-20' },
      {
        'taken_in.virtual_account': 300_000,
        'taken_in.qris': 50_000,
        fees: 8_350,
        markup: 350,
        'at_provider.payment': 145_650,
        'at_provider.suspense': 29_700,
        'transit.payment': 196_000,
        'in_suspense.suspense': 30_000,
        'cost.suspense': -300,
        clients: 341_300,
        'closing.markup': 350,
        at_provider: 175_350,
        transit: 196_000,
        in_suspense: 30_000,
        cost: -300,
        owed_to_clients: 341_300,
      },
    ],
    [
      'the movements of one day, and the balances before and after it',
      { from: '2026-11-21', to: '2026-11-21' },
      {
        paid_out: 145_500,
        'at_provider.late_row': 195_000,
        'at_bank.payout': -145_500,
        'transit.late_row': -196_000,
        'cost.late_row': -1_000,
        'opening.clients': 341_300,
        'opening.markup': 350,
        'opening.at_provider': 175_350,
        'opening.transit': 196_000,
        'opening.in_suspense': 30_000,
        'opening.cost': -300,
        clients: 195_800,
        'closing.markup': 350,
        at_provider: 370_350,
        at_bank: -145_500,
        in_suspense: 30_000,
        cost: -1_300,
        owed_to_clients: 195_800,
      },
    ],
    [
      'one merchant alone, without the rows of the house',
      { ofA: true },
      {
        'taken_in.virtual_account': 100_000,
        'taken_in.qris': 50_000,
        fees: 350,
        markup: 50,
        taken_back: 100_000,
        recovered: 10_000,
        written_off: 5_000,
        paid_out: 145_500,
        'at_provider.payment': 145_650,
        'at_provider.refund': -100_000,
        'at_bank.recovered': 10_000,
        'at_bank.payout': -145_500,
        'cost.refund': -4_000,
        'cost.written_off': -5_000,
        clients: -80_900,
        'closing.markup': 50,
        at_provider: 45_650,
        at_bank: -135_500,
        cost: -9_000,
        owed_by_clients: 80_900,
      },
    ],
  ])('shows %s', async ([, { ofA, ...days }, figures], { deps, a }) => {
    const books = await booksOf(deps, { ...days, ...(ofA && { client_id: a.clientId }) })

    expect(books).toStrictEqual({
      from: '2026-11-01',
      to: '2026-11-22',
      ...days,
      figures,
      balanced: true,
    })
  })

  it('counts a reversal as taken back, and an earlier payout in the balances alone', () => {
    const line = {
      type: 'reversal',
      day: '2026-11-21',
      grossMinor: minor(-100_000),
      ...NO_LEGS,
    } as const
    expect(bookOfLines([line], { from: line.day, to: line.day })).toMatchObject({
      taken_back: 100_000,
    })
    const payout = { day: '2026-11-20', netMinor: minor(1) }
    expect(bookOfPayout(payout, { from: line.day, to: line.day })).toStrictEqual({
      'opening.at_bank': -1,
      at_bank: -1,
      'opening.clients': -1,
      clients: -1,
    })
  })

  it('leaves re-credits out, so no figure counts money twice', async ({ deps, b, ofB }) => {
    await deps.table.write(markClosed({ ...ofB, status: 'failed' }))

    const input = { operator: OPERATOR, settlement_id: ofB.settlementId, notes: 'account closed' }
    expect((await invokeAdmin(recredit, deps, input)).status).toBe(200)
    const booksBefore = await booksOf(deps)
    deps.clock.advance(60)
    await sweptNow(deps, b)

    expect(booksBefore.figures).toStrictEqual(MONTH)
    expect(await booksOf(deps)).toStrictEqual(booksBefore)
  })

  it('has a CSV line for each merchant and for the house, which add up to the total', async ({
    deps,
    a,
    b,
  }) => {
    const { body } = await invokeAdmin(getBooks, deps, { format: 'csv' })

    const { csv } = v.parse(v.strictObject({ csv: v.string() }), body)
    const [head = '', ...lines] = csv.trimEnd().split('\n')
    const rows = lines.map((line) => line.split(','))
    expect(rows.map(([name]) => name)).toStrictEqual([
      `"${a.clientId}"`,
      `"${b.clientId}"`,
      '"house"',
    ])
    expect(rows.map((row) => row.at(-1))).toStrictEqual(['"true"', '"true"', '"true"'])
    const sums = head
      .split(',')
      .slice(1, -1)
      .map((name, at) => [name, rows.reduce((sum, row) => sum + Number(row[at + 1]), 0)] as const)
    expect(Object.fromEntries(sums.filter(([, amount]) => amount !== 0))).toStrictEqual(MONTH)
    const onlyB = await invokeAdmin(getBooks, deps, { format: 'csv', client_id: b.clientId })
    expect(onlyB.body).toStrictEqual({ csv: `${head}\n${lines[1] ?? ''}\n` })
  })

  it('shows the provider’s own balance on request', async () => {
    const deps = memoryDeps()
    const value = { account: 'CASH', amountMinor: minor(-1_500) }
    deps.provider.script('getBalance', async () => ({ kind: 'found', value }))

    const { body } = await invokeAdmin(getBooks, deps, { provider_balance: true })
    deps.provider.script('getBalance', async () => ({ kind: 'unanswered', reason: 'unreachable' }))
    const unanswered = await invokeAdmin(getBooks, deps, { provider_balance: true })

    const shown = { account: 'CASH', amount_minor: -1_500, at: deps.now() }
    expect(body).toMatchObject({ balanced: true, provider_balance: shown })
    expect(unanswered.body).toMatchObject({
      balanced: true,
      provider_balance: { unanswered: 'unreachable' },
    })
    expect(
      (await invokeAdmin(getBooks, deps, { provider_balance: true, format: 'csv' })).status,
    ).toBe(422)
  })

  it.each([
    [{ from: '2026-11-31' }, 'from: must be a date such as 2026-11-30'],
    [{ to: '20261130' }, 'to: must be a date such as 2026-11-30'],
    [{ to: '2026-11-21' }, 'to must not be in the future'],
    [{ from: '2026-11-03', to: '2026-11-02' }, 'from must not be after to'],
    [{ cursor: 'e30' }, 'cursor: must be the cursor of an earlier answer to the same request'],
    [{ cursor: 'unknown' }, 'cursor: must be the cursor of an earlier answer to the same request'],
  ])('refuses %o with one reason', async (input, message) => {
    const body = { message, field_errors: { [Object.keys(input)[0] ?? '']: [expect.any(String)] } }
    expect(await invokeAdmin(getBooks, memoryDeps(), input)).toMatchObject({ status: 422, body })
  })

  it('answers 404 for an unknown merchant', async () => {
    expect(
      await invokeAdmin(getBooks, memoryDeps(), { client_id: crypto.randomUUID() }),
    ).toMatchObject({ status: 404 })
  })
})

describe('get-books of many merchants and payments', () => {
  it('reads no entry that a settlement has taken', async ({ deps, a }) => {
    const { settledUntil } = await readWindow(deps, a.clientId)
    const recorded = recordTable(deps)

    await booksOf(recorded.deps, { client_id: a.clientId })

    const read = queriesIn(recorded.calls).filter(
      ({ partition }) => partition[0] === `JOURNAL#${a.clientId}`,
    )
    expect(read.length).toBeGreaterThan(0)
    for (const { range } of read)
      expect(range).toMatchObject({ between: [settledUntil, expect.anything()] })
  })

  it('finds settlements that the index does not list yet, and a payment that no settlement may take yet', async () => {
    const { deps } = depsWithLateIndexes('SETTLEMENT#')
    const client = await withoutFloor(deps)
    for (let day = 0; day < 3; day++) {
      await aPosted(deps, client, { feeMinor: 4_000 })
      deps.clock.advance(2 * 86_400)
      await sweptNow(deps, client)
    }

    await aPosted(deps, client, { feeMinor: 4_000 })
    const books = await booksOf(deps, { client_id: client.clientId })

    expect(books).toMatchObject({
      figures: { 'taken_in.virtual_account': 400_000, clients: 383_600 },
      balanced: true,
    })
  })

  it('reads no further page of merchants when the answer is full', async () => {
    const deps = memoryDeps()
    for (let made = 0; made < 41; made++) await withoutFloor(deps)
    const pages: number[] = []

    const position = await walkClients(deps, undefined, {
      read: async (clientIds) => void pages.push(clientIds.length),
      isFull: () => true,
    })

    expect([pages, position]).toStrictEqual([[40], expect.any(Object)])
  })

  it('answers a cursor when a run’s time is over, and all figures in the last run', async ({
    deps,
  }) => {
    for (let more = 0; more < 90; more++) await withoutFloor(deps)
    const wholeCsv = v.parse(
      v.object({ csv: v.string() }),
      (await invokeAdmin(getBooks, deps, { format: 'csv' })).body,
    )
    let time = 0
    const slow = { ...deps, monotonicMs: () => (time += 300_000) }
    type Answer = { readonly continuing?: true; readonly cursor?: string; readonly csv?: string }
    const ask = async (input: object) => (await invokeAdmin(getBooks, slow, input)).body as Answer

    const runs: Answer[] = []
    do runs.push(await ask({ format: 'csv', cursor: runs.at(-1)?.cursor }))
    while (runs.at(-1)?.cursor && runs.length < 10)
    const first = await ask({})
    const second = await ask({ cursor: first.cursor })

    expect(runs.map(({ continuing }) => continuing)).toStrictEqual([true, true, undefined])
    expect(runs.map(({ csv }) => csv).join('')).toBe(wholeCsv.csv)
    expect(first).toStrictEqual({ continuing: true, cursor: expect.any(String) as unknown })
    // A cursor keeps its days; the days of the next call are ignored.
    const last = await booksOf(slow, { cursor: second.cursor, to: '2026-11-20' })
    expect(last).toMatchObject({ to: '2026-11-22', figures: MONTH })
  })

  it('shows the days of a settlement whose totals are too many to keep their days', async () => {
    const deps = memoryDeps()
    const client = await withoutFloor(deps)
    for (let day = 0; day <= 200; day++, aDayLater(deps))
      await adjustBalance(deps, client, 'correction', 1)
    const { totals } = await sweptNow(deps, client)
    const figuresOf = async (from: string, to: string) => {
      const { figures } = await booksOf(deps, { client_id: client.clientId, from, to })
      return [figures['clients'], figures['correction']]
    }

    expect(totals).toMatchObject([{ day: '2026-11-20', lastDay: '2027-06-08', count: 201 }])
    expect(await figuresOf('2026-11-20', '2027-06-08')).toStrictEqual([201, 201])
    expect(await figuresOf('2026-12-01', '2026-12-31')).toStrictEqual([42, 31])
    await expectBalanced(deps, client.clientId)
  })
})
