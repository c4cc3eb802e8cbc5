import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { ZERO } from '../../../shared/money.ts'
import { TimestampSchema } from '../../../shared/time.ts'
import { API, type ApiClient, anApiClient, call, type Query } from '../../support/api-event.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { payOut, sweptADayLater, sweptNow } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { payoutHistory } from './payout-history.ts'
import { statementTest as it, openNetOf, totalOfLines } from './statement-merchant.ts'

async function atTime(deps: TestDeps, at: string, client: ApiClient, amount = 100_000) {
  deps.clock.set(v.parse(TimestampSchema, at))
  return aSucceededPayment(deps, client, { notionalMinor: amount })
}

describe('GET /v1/statement (design section 8)', () => {
  it('closes today at pending + available + in settlement − open, after every step of a settlement', async ({
    deps,
    client,
    statement,
  }) => {
    for await (const step of payoutHistory(deps, client)) {
      const { opening_minor, lines, closing_minor } = await statement()
      const { body } = await call(deps, API.getBalance, {
        caller: client,
        query: { include: 'settlements' },
      })

      const owed = ['pending_minor', 'available_minor', 'in_settlement_minor']
        .map((name) => Number(body[name]))
        .reduce((a, b) => a + b, 0)
      expect([step, closing_minor]).toStrictEqual([step, owed - openNetOf(deps)])
      expect([step, opening_minor + totalOfLines(lines)]).toStrictEqual([step, closing_minor])
    }
  })

  it('has a line for each payment, payout and transfer that came back, and none for a failed or re-credited settlement', async ({
    deps,
    client,
    statement,
  }) => {
    await Array.fromAsync(payoutHistory(deps, client))

    const { lines, ...rest } = await statement({ from: '2026-11-20' })

    const settlementId = expect.stringMatching(/^[0-9a-f-]{36}$/)
    const about = { at: expect.stringMatching(/Z$/), payment_id: settlementId }
    const first = { ...about, external_reference: 'order-1' }
    const placeOf = ({ at, type }: (typeof lines)[number]) => `${at} ${type}`
    const sorted = lines.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    expect(sorted).toStrictEqual([
      { ...first, type: 'payment', amount_minor: 95_900 },
      { at: about.at, type: 'payout', settlement_id: settlementId, amount_minor: -95_900 },
      { ...about, type: 'payment', amount_minor: 75_920 },
      { ...about, type: 'refund', amount_minor: -30_000 },
      { at: about.at, type: 'returned', settlement_id: settlementId, amount_minor: 95_900 },
      { ...about, type: 'payment', amount_minor: 45_950 },
      { at: about.at, type: 'payout', settlement_id: settlementId, amount_minor: -141_820 },
      { ...about, type: 'refund', amount_minor: -20_000 },
    ])
    expect(sorted[1]?.settlement_id).toBe(sorted[4]?.settlement_id)
    expect(rest).toStrictEqual({
      from: '2026-11-20',
      to: deps.now().slice(0, 10),
      opening_minor: 0,
      closing_minor: 25_950,
      final_until: expect.stringMatching(/Z$/),
      next: null,
    })
  })

  // Public report: pay-tech-docs #1000.
  it('joins months: closing is the next opening, and 2026-11-30T17:30Z is 1 December', async ({
    deps,
    client,
    statement,
  }) => {
    await atTime(deps, '2026-11-29T10:00:00.000Z', client)
    await atTime(deps, '2026-11-30T16:59:59.999Z', client, 50_000)
    await atTime(deps, '2026-11-30T17:30:00.000Z', client, 70_000)
    await payOut(deps, await sweptADayLater(deps, client))
    deps.clock.set(v.parse(TimestampSchema, '2027-01-02T03:00:00.000Z'))

    const november = await statement({ from: '2026-11-01', to: '2026-11-30' })
    const december = await statement({ from: '2026-12-01', to: '2026-12-31' })
    const both = await statement({ from: '2026-11-01', to: '2026-12-31' })

    expect(november.lines.map(({ amount_minor }) => amount_minor)).toStrictEqual([95_900, 45_950])
    expect(november.closing_minor).toBe(141_850)
    expect(december.opening_minor).toBe(141_850)
    expect(december.lines.map(({ at, type }) => [at.slice(0, 10), type])).toStrictEqual([
      ['2026-11-30', 'payment'],
      ['2026-12-01', 'payout'],
    ])
    expect(both).toMatchObject({
      opening_minor: november.opening_minor,
      lines: [...november.lines, ...december.lines],
      closing_minor: december.closing_minor,
    })
  })

  it('lists payouts last within a day, by settled_at', async ({ deps, client, statement }) => {
    await atTime(deps, '2026-11-20T04:00:00.000Z', client)
    const settlement = await sweptADayLater(deps, client)
    await adjustBalance(deps, client, 'correction', 7)
    const later = await sweptNow(deps, client)
    for (const paid of [later, settlement]) {
      await payOut(deps, paid)
      deps.clock.advance(60)
    }
    await aSucceededPayment(deps, client)

    const { lines } = await statement({ from: '2026-11-21' })

    const types = ['correction', 'payment', 'payout', 'payout']
    expect(lines.map(({ type }) => type)).toStrictEqual(types)
    expect(lines.at(-1)?.settlement_id).toBe(settlement.settlementId)
    expect((lines[1]?.at ?? '') > (lines[3]?.at ?? '')).toBe(true)
  })

  it('refuses another merchant’s cursor', async ({ deps, client, ask, statement }) => {
    await aSucceededPayment(deps, client)
    await aSucceededPayment(deps, client)
    const other = await anApiClient(deps, { settlementFloorMinor: ZERO })
    const { next } = await statement({ limit: '1' })

    expect(await ask({ after: next ?? '' }, {}, other)).toMatchObject({
      status: 422,
      body: { field_errors: { after: [expect.any(String)] } },
    })
  })

  it.for<[string, Query, string]>([
    ['101 days', { from: '2026-08-12', to: '2026-11-20' }, 'to'],
    ['days in the future', { to: '2026-11-21' }, 'to'],
    ['a first day after the last', { from: '2026-11-20', to: '2026-11-19' }, 'from'],
    ['a date that does not exist', { from: '2026-02-30' }, 'from'],
    ['a time', { from: '2026-11-20T00:00:00Z' }, 'from'],
    ['an unreadable cursor', { after: 'x' }, 'after'],
    ['an unknown parameter', { month: '2026-11' }, 'month'],
  ])('refuses %s with 422', async ([, query, field], { ask }) => {
    const { status, body } = await ask(query)

    expect([status, Object.keys(Object(body['field_errors']))]).toStrictEqual([422, [field]])
  })

  it('takes exactly 100 days', async ({ statement }) => {
    expect(await statement({ from: '2026-08-13', to: '2026-11-20' })).toMatchObject({ lines: [] })
  })
})
