import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { bookOfLines, bookOfPayout } from '../../../shared/books/book.ts'
import { NO_LEGS } from '../../../shared/journal/entry.ts'
import { minor } from '../../../shared/money.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import { markClosed } from '../../../shared/settlement/settlement-store.ts'
import { aRefund } from '../../support/money-rows.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { post } from '../../support/paid-builders.ts'
import { aLoneClient, sweptNow, withoutFloor } from '../../support/settlement-builders.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { memoryDeps } from '../../support/test-deps.ts'
import { aPosted, Body, booksOf, houseRow, booksTest as it, MONTH } from './books-world.ts'

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
    const { figures } = v.parse(Body, (await invokeAdmin('get-books', memoryDeps(), {})).body)

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

  it('shows an invoice of fees: it empties transit, and what it is above them is a cost', async () => {
    const deps = memoryDeps()
    const invoicing = { ...deps, stage: { ...deps.stage, providerFees: 'invoiced' as const } }
    const client = await withoutFloor(invoicing)
    // 100,000 at the provider each; the tariff's fee of 4,000 each is billed later.
    for (const _ of [1, 2]) {
      const { payment } = await creditedPayment(invoicing, client)
      await post(invoicing, payment, { feeMinor: 0 })
    }
    const before = await booksOf(invoicing)
    const legs = { bankMinor: minor(-8_300), transitMinor: minor(8_000), costMinor: minor(-300) }
    await houseRow(invoicing, { type: 'adjustment', transactionId: 'INV-11', ...legs })

    expect(before).toMatchObject({
      figures: { transit: -8_000, at_provider: 200_000, clients: 191_800, 'closing.markup': 200 },
      balanced: true,
    })
    const { figures, balanced } = await booksOf(invoicing)
    expect(figures).toMatchObject({ at_bank: -8_300, cost: -300, 'transit.adjustment': 8_000 })
    expect([figures['transit'], balanced]).toStrictEqual([undefined, true])
  })

  it('is not balanced while a row contradicts itself and nobody has explained it', async () => {
    const { deps, client } = await aLoneClient()
    const payment = await aPosted(deps, client, { feeMinor: 4_000 })
    const refund = { ...aRefund(deps, 30_000), providerMinor: minor(30_000) }
    await movePayment(deps, payment, refund)
    const suspenseId = `${refund.transactionId}#refund#row_contradicts`

    const difference = { what: 'contradicting row', id: suspenseId }
    for (const input of [{}, { client_id: client.clientId }]) {
      const { body } = await invokeAdmin('get-books', deps, input)
      expect(body).toMatchObject({ balanced: false, differences: [difference] })
    }
    expect((await booksOf(deps)).figures).toMatchObject({ other: 60_000, at_provider: 126_000 })
    const by = { suspenseId, operator: OPERATOR, resolution: 'explained', notes: 'asked' } as const
    await resolveSuspense(deps, by)
    expect((await booksOf(deps)).balanced).toBe(true)
  })

  it('leaves re-credits out, so no figure counts money twice', async ({ deps, b, ofB }) => {
    await deps.table.write(markClosed({ ...ofB, status: 'failed' }))

    const input = { operator: OPERATOR, settlement_id: ofB.settlementId, notes: 'account closed' }
    expect((await invokeAdmin('recredit-settlement', deps, input)).status).toBe(200)
    const booksBefore = await booksOf(deps)
    await sweptNow(deps, b)

    expect(booksBefore.figures).toStrictEqual(MONTH)
    expect(await booksOf(deps)).toStrictEqual(booksBefore)
  })

  it('has a CSV line for each merchant and for the house, which add up to the total', async ({
    deps,
    a,
    b,
  }) => {
    const { body } = await invokeAdmin('get-books', deps, { format: 'csv' })

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
      .map((name, at) => [name, rows.reduce((sum, row) => sum + Number(row[at + 1]), 0)])
    expect(Object.fromEntries(sums.filter(([, amount]) => amount !== 0))).toStrictEqual(MONTH)
    const onlyB = await invokeAdmin('get-books', deps, { format: 'csv', client_id: b.clientId })
    expect(onlyB.body).toStrictEqual({ csv: `${head}\n${lines[1] ?? ''}\n` })
  })

  it('shows the provider’s own balance on request', async () => {
    const deps = memoryDeps()
    deps.provider.showBalance(-1_500)

    const { body } = await invokeAdmin('get-books', deps, { provider_balance: true })
    deps.provider.silence('getBalance')
    const unanswered = await invokeAdmin('get-books', deps, { provider_balance: true })

    const shown = { account: 'CASH', amount_minor: -1_500, at: deps.now() }
    expect(body).toMatchObject({ balanced: true, provider_balance: shown })
    expect(unanswered.body).toMatchObject({
      balanced: true,
      provider_balance: { unanswered: 'unreachable' },
    })
    expect(
      (await invokeAdmin('get-books', deps, { provider_balance: true, format: 'csv' })).status,
    ).toBe(422)
  })

  it.each([
    [{ from: '2026-11-31' }, 'from: must be a date such as 2026-11-30'],
    [{ to: '20261130' }, 'to: must be a date such as 2026-11-30'],
    [{ to: '2026-11-21' }, 'to must not be in the future'],
    [{ from: '2026-11-03', to: '2026-11-02' }, 'from must not be after to'],
    [{ cursor: 'e30' }, 'cursor: must be the cursor of an earlier answer to the same request'],
    [{ cursor: 'e30', client_id: crypto.randomUUID() }, 'cursor: omit it with client_id'],
  ])('refuses %o with one reason', async (input, message) => {
    const body = { message, field_errors: { [Object.keys(input)[0] ?? '']: [expect.any(String)] } }
    expect(await invokeAdmin('get-books', memoryDeps(), input)).toMatchObject({ status: 422, body })
  })

  it('answers 404 for an unknown merchant', async () => {
    expect(
      await invokeAdmin('get-books', memoryDeps(), { client_id: crypto.randomUUID() }),
    ).toMatchObject({ status: 404 })
  })
})
