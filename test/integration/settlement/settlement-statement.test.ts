import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { UuidSchema } from '../../../shared/ids.ts'
import { figuresOf, newEntry } from '../../../shared/journal/entry.ts'
import { putEntry } from '../../../shared/journal/entry-store.ts'
import { putWindow } from '../../../shared/ledger/window-store.ts'
import { minor } from '../../../shared/money.ts'
import { encodeCursor } from '../../../shared/page.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import {
  balanceEntries,
  settlementStatement,
} from '../../../shared/settlement/statement/settlement-entries.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import {
  anOpenPayment,
  postAssumed,
  storePosted,
  succeededPayment,
} from '../../support/paid-builders.ts'
import { aClientId } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aLoneClient,
  aSettledClient,
  ENTRIES_HEADER,
  storedSettlement,
  sweptADayLater,
  sweptNow,
} from '../../support/settlement-builders.ts'
import { recordTable, type TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

async function aSettlementWithEntries(deps: TestDeps, count: number) {
  const clientId = aClientId()
  await deps.table.write(putWindow(clientId, deps.now()))
  const settlement = await storedSettlement(deps, { clientId, entryCount: count })
  const figures = {
    ...figuresOf(minor(20_000), minor(4_000), minor(20)),
    providerMinor: minor(16_000),
  }
  const entries = Array.from({ length: count }, (_, number) => {
    const at = addMs(settlement.sweptFrom, number)
    const entryId = v.parse(
      UuidSchema,
      `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`,
    )
    const about = {
      type: 'payment',
      method: 'virtual_account',
      providerTransactionId: `txn_${number}`,
    } as const
    return newEntry({ ...about, ...figures, entryId, eligibleAt: at, postedAt: at })
  })
  await Promise.all(entries.map((entry) => deps.table.write(putEntry(clientId, entry))))
  return { clientId, entries, settlement, settlementId: settlement.settlementId }
}

const COLUMNS = `${ENTRIES_HEADER},provider_transaction_id,provider_settled_at`

function statement(
  deps: TestDeps,
  settlementId: string,
  cursor?: string,
  format: 'json' | 'csv' = 'json',
) {
  return settlementStatement(deps, { settlementId, cursor, format })
}

type Page = Awaited<ReturnType<typeof statement>>

async function allPages(deps: TestDeps, settlementId: string, format: 'json' | 'csv') {
  const pages: Page[] = []
  for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.cursor) {
    pages.push(await statement(deps, settlementId, cursor, format))
  }
  return pages
}

function linesOf(page: Page) {
  return 'entries' in page ? page.entries : []
}

describe('the statement of a settlement (design section 7)', () => {
  it('shows each entry with its row at the provider, and the totals', async ({ deps }) => {
    const settledAt = addMs(deps.now(), 60_000)
    const paidAt = deps.now()
    const row = { providerSettledAt: settledAt, providerFeeMinor: 4_440 }
    const { client, settlement } = await aSettledClient(deps, [row])
    const { settlementId } = settlement

    const { settlement: shownSettlement, ...otherParts } = await statement(deps, settlementId)

    expect(shownSettlement).toMatchObject({
      id: settlementId,
      client_id: client.clientId,
      net_minor: 95_460,
    })
    expect(otherParts).toMatchObject({
      totals: {
        gross_minor: 100_000,
        xendit_fees_minor: 4_440,
        hexolus_markup_minor: 100,
        net_minor: 95_460,
        payment_count: 1,
        entry_count: 1,
        unproven_minor: 0,
      },
      entries: [
        {
          type: 'payment',
          settlement_id: settlementId,
          paid_at: paidAt,
          posted_at: paidAt,
          notional_minor: 100_000,
          xendit_fee_minor: 4_440,
          client_net_minor: 95_460,
          hexolus_markup_minor: 100,
          provider_transaction_id: expect.stringMatching(/^txn_/),
          provider_settled_at: settledAt,
        },
      ],
      cursor: null,
    })
    await expectBalanced(deps, client)
  })

  it('shows the amount that no settled row proves', async ({ deps, client }) => {
    await postAssumed(deps, await anOpenPayment(deps, client))
    const { settlementId } = await sweptADayLater(deps, client)

    expect(await statement(deps, settlementId)).toMatchObject({
      totals: { unproven_minor: 95_900 },
      entries: [{ provider_transaction_id: null, provider_settled_at: null }],
    })
  })

  it('has every entry once over all pages, in both formats, and reads no payment', async ({
    deps,
  }) => {
    const { entries, settlementId } = await aSettlementWithEntries(deps, 1_003)
    const { deps: recorded, calls } = recordTable(deps)

    const json = await allPages(recorded, settlementId, 'json')
    const csv = await allPages(deps, settlementId, 'csv')

    const lines = json.flatMap(linesOf)
    expect(json.map((page) => linesOf(page).length)).toStrictEqual([500, 500, 3])
    expect(lines.map(({ id }) => id)).toStrictEqual(entries.map(({ entryId }) => entryId))
    expect(
      calls.some((call) => 'keys' in call && call.keys.some(({ pk }) => pk.startsWith('PAYMENT'))),
    ).toBe(false)
    const texts = csv.map((page) => ('csv' in page ? page.csv : '').trimEnd().split('\n'))
    const [header = ''] = texts[0] ?? []
    const rows = texts.flatMap(([, ...others]) => others)
    expect(texts.map(([first]) => first)).toStrictEqual([COLUMNS, COLUMNS, COLUMNS])
    const cell = (value: unknown) =>
      value === undefined || value === null ? '' : JSON.stringify(value)
    const expected = lines.map((line) =>
      header.split(',').map((column) => cell(Reflect.get(line, column))),
    )
    expect(rows).toStrictEqual(expected.map((cells) => cells.join(',')))
  })
})

describe("a statement's cursor", () => {
  it.for<readonly [string, bad: string | ((settlement: Settlement) => object)]>([
    ['is not the text of a cursor', 'abc'],
    ['is empty', ''],
    ['has an additional field', () => ({ client_id: 'x' })],
    ['has no entry id', () => ({ id: 'x' })],
    ['is of another settlement', () => ({ of: crypto.randomUUID() })],
    [
      'has an impossible time',
      ({ sweptFrom }) => ({ eligible_at: sweptFrom.replace(/T.*/, 'T99:99:99.999Z') }),
    ],
    ['lies before the settlement', ({ sweptFrom }) => ({ eligible_at: addMs(sweptFrom, -1) })],
    ['lies at the end of the settlement', ({ sweptUntil }) => ({ eligible_at: sweptUntil })],
  ])('that %s is refused', async ([, bad], { deps }) => {
    const { settlementId, settlement } = await aSettlementWithEntries(deps, 1)
    const id = 'ffffffff-ffff-8fff-bfff-ffffffffffff'
    const good = { of: settlementId, eligible_at: addMs(settlement.sweptUntil, -1), id }
    const cursor = typeof bad === 'string' ? bad : encodeCursor({ ...good, ...bad(settlement) })

    await expect(statement(deps, settlementId, cursor)).rejects.toMatchObject({
      code: 'validation',
      details: { fieldErrors: { cursor: [expect.any(String)] } },
    })
    expect(linesOf(await statement(deps, settlementId, encodeCursor(good)))).toHaveLength(0)
  })
})

test('an entry that is eligible at the end of a settlement is in the next one', async () => {
  const { deps, client } = await aLoneClient()
  const paidAt = deps.now()
  const entries = async () =>
    (await balanceEntries(deps, { ...client, since: paidAt, limit: 10 })).entries
  await storePosted(
    deps,
    [paidAt, addMs(paidAt, 1)].map((at) => succeededPayment(client, { paidAt: at })),
  )
  deps.clock.set(addMs(paidAt, DAY_MS))
  const first = await sweptNow(deps, client)
  const [, open] = await entries()
  const next = await sweptADayLater(deps, client)

  expect(open).toMatchObject({ eligible_at: first.sweptUntil, settlement_id: null })
  expect((await entries()).map((row) => row.settlement_id)).toStrictEqual([
    first.settlementId,
    next.settlementId,
  ])
})
