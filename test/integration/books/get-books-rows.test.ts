import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { walkClients } from '../../../shared/client/client-register.ts'
import { boundedTotals } from '../../../shared/journal/day-totals.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { less, minor, ZERO } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import {
  HOUSE_TOTALS_PK,
  journalPk,
  type Key,
  settlementKey,
  shardKey,
} from '../../../shared/table/keys.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  aLoneClient,
  settle,
  sweptNow,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { rowNow } from '../../support/synced-payment.ts'
import { alter, erase, putRaw, rawItem } from '../../support/tampering.ts'
import {
  depsWithLateIndexes,
  memoryDeps,
  queriesIn,
  recordTable,
  type TestDeps,
} from '../../support/test-deps.ts'
import { foreignIds, syncTest } from '../sync/sync-test.ts'
import { aPosted, booksOf, booksTest as it, MONTH } from './books-world.ts'

type Row = Readonly<Record<string, unknown>>
type Total = Readonly<Record<'netMinor' | 'providerMinor' | 'costMinor', number>>

async function checkBooks(deps: TestDeps) {
  const differences = v.optional(v.array(v.object({ what: v.string(), id: v.string() })), [])
  return v.parse(
    v.object({ balanced: v.boolean(), differences }),
    (await invokeAdmin('get-books', deps, {})).body,
  )
}

async function lastKeyOf(deps: TestDeps, pk: string) {
  const { items } = await deps.table.query({ partition: [pk], limit: 1, newestFirst: true })
  return { pk, sk: String(items[0]?.['sk']) }
}

async function differencesWith(deps: TestDeps, key: Key, changesOf: (row: Row) => Row) {
  const row = await rawItem(deps, key)
  await putRaw(deps, { ...row, ...changesOf(row) })
  const { balanced, differences } = await checkBooks(deps)
  expect(balanced).toBe(false)
  return differences
}
function increment(name: string) {
  return (row: Row) => ({ [name]: Number(row[name] ?? 0) + 1 })
}

const SIDES = [
  'provider_minor',
  'bank_minor',
  'transit_minor',
  'suspense_minor',
  'cost_minor',
  'other_minor',
]
const SUMS = ['gross_minor', 'fee_minor', 'markup_minor', 'net_minor']

describe('get-books of rows that were altered', () => {
  it.for([
    ...[...SUMS, ...SIDES].map((name) => ['an entry', name, ['entry.sides']] as const),
    ...SIDES.map((name) => ['a house total', name, ['trial balance', 'house.totals']] as const),
  ])('finds %s whose %s is altered', async ([row, name, named], { deps, a }) => {
    const pk = row === 'an entry' ? journalPk(a.clientId) : HOUSE_TOTALS_PK
    const differences = await differencesWith(deps, await lastKeyOf(deps, pk), increment(name))

    expect(differences.map(({ what }) => what)).toEqual(expect.arrayContaining([...named]))
  })

  it.for<[string, (total: Total) => readonly Total[]]>([
    ['one side', (total) => [{ ...total, providerMinor: total.providerMinor + 1 }]],
    [
      'two sides alike',
      (total) => [{ ...total, netMinor: total.netMinor + 1, costMinor: total.costMinor - 1 }],
    ],
    ['all sides are removed', () => []],
  ])(
    'finds a stored total of a settlement that is altered: %s',
    async ([, totalsOf], { deps, ofA }) => {
      const differences = await differencesWith(deps, settlementKey(ofA.settlementId), (row) => {
        const [first, ...others] = row['totals'] as readonly [Total, ...Total[]]
        return { totals: [...totalsOf(first), ...others] }
      })

      expect(differences.some(({ id }) => id.startsWith(ofA.settlementId))).toBe(true)
    },
  )

  it.for(SUMS)('finds a settlement whose %s is altered', async (name, { deps, ofB }) => {
    const differences = await differencesWith(
      deps,
      settlementKey(ofB.settlementId),
      increment(name),
    )

    expect(differences.map(({ id }) => id)).toStrictEqual([ofB.settlementId])
  })

  it.for(['missing', 'unreadable'])(
    'finds a settlement that is %s',
    async (state, { deps, ofB: { settlementId } }) => {
      const key = settlementKey(settlementId)
      if (state === 'missing') await erase(deps, key)
      else await alter(deps, key, { net_minor: 'much' })

      const differences = [{ what: 'settlement', id: settlementId }]
      expect(await checkBooks(deps)).toStrictEqual({ balanced: false, differences })
    },
  )

  it('is not balanced while an audit’s difference refuses the payouts of a client', async ({
    deps,
    a,
  }) => {
    const shard = await rawItem(deps, shardKey(a.clientId, 0))
    await putRaw(deps, { ...shard, credited_minor: Number(shard['credited_minor'] ?? 0) + 1 })
    deps.clock.advance(300)
    await auditClient(deps, a.clientId)

    const { balanced, differences } = await checkBooks(deps)

    expect(balanced).toBe(false)
    expect(differences.map(({ what }) => what)).toContain('ledger.credited_minor')
  })

  it('names the trial balance and the first twenty differences', async ({ deps }) => {
    const total = await rawItem(deps, await lastKeyOf(deps, HOUSE_TOTALS_PK))
    for (let day = 10; day < 31; day++) {
      await putRaw(deps, { ...total, sk: `2026-10-${day}`, day: `2026-10-${day}`, other_minor: 1 })
    }

    expect((await checkBooks(deps)).differences).toHaveLength(21)
  })
})

/** Goal: the books are not "balanced" after an adapter signed a net wrongly. */

type Fields = Partial<ProviderTransaction>

const out = { keptMinor: undefined, amountMinor: minor(30_000), providerMinor: minor(-30_000) }
const ofOurAccount: Fields = { ...out, type: 'account' }

syncTest.for<[string, { ofPayment: boolean; fields: Fields }]>([
  ['a payment', { ofPayment: true, fields: {} }],
  ['a refund', { ofPayment: true, fields: { ...out, type: 'return', reversalKind: 'refund' } }],
  ['a withdrawal', { ofPayment: false, fields: { ...ofOurAccount, transfer: 'withdrawal' } }],
  [
    'a top-up',
    {
      ofPayment: false,
      fields: { ...ofOurAccount, transfer: 'topup', providerMinor: minor(30_000) },
    },
  ],
])(
  'the net of %s with the wrong sign: the books say false',
  async ([, { ofPayment, fields }], { deps, client, credited, sync }) => {
    const own = rowNow(deps, credited)
    const row = ofPayment
      ? rowNow(deps, credited, fields)
      : settledRow(foreignIds, deps.now(), fields)
    const isOwn = Object.keys(fields).length === 0
    const providerMinor = less(ZERO, row.providerMinor)
    // The adapter derives the fee of a payment's own row from its net.
    const keptMinor = isOwn ? less(row.amountMinor, providerMinor) : row.keptMinor
    const wrong = { ...row, providerMinor, keptMinor }
    await sync(...(isOwn ? [wrong] : [own, wrong]))
    // A payment's own row that contradicts itself waits for its seventh day.
    deps.clock.advance(8 * 86_400)
    await settle(deps, client)

    expect(await booksOf(deps)).toMatchObject({ balanced: false })
  },
)

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
      (await invokeAdmin('get-books', deps, { format: 'csv' })).body,
    )
    let time = 0
    const slow = { ...deps, monotonicMs: () => (time += 300_000) }
    type Answer = { readonly continuing?: true; readonly cursor?: string; readonly csv?: string }
    const ask = async (input: object) =>
      (await invokeAdmin('get-books', slow, input)).body as Answer

    const runs: Answer[] = []
    do runs.push(await ask({ format: 'csv', cursor: runs.at(-1)?.cursor }))
    while (runs.at(-1)?.cursor && runs.length < 10)
    const first = await ask({})
    const second = await ask({ cursor: first.cursor })

    expect(runs.map(({ continuing }) => continuing)).toStrictEqual([true, true, undefined])
    expect(runs.map(({ csv }) => csv).join('')).toBe(wholeCsv.csv)
    expect(first).toStrictEqual({ continuing: true, cursor: expect.any(String) })
    // A cursor keeps its days; the days of the next call are ignored.
    const last = await booksOf(slow, { cursor: second.cursor, to: '2026-11-20' })
    expect(last).toMatchObject({ to: '2026-11-22', figures: MONTH })
  })

  it('shows the days of a settlement whose totals are too many to keep their days', async () => {
    const { deps, client } = await aLoneClient()
    for (let day = 0; day <= 200; day++, aDayLater(deps))
      await adjustBalance(deps, client, 'correction', 1)
    const { totals } = await sweptNow(deps, client)
    const ofDays = totals.flatMap((total) =>
      Array.from({ length: 200 }, () => ({ ...total, lastDay: undefined })),
    )
    const figuresOf = async (from: string, to: string) => {
      const { figures } = await booksOf(deps, { client_id: client.clientId, from, to })
      return [figures['clients'], figures['correction']]
    }

    expect(totals).toMatchObject([{ day: '2026-11-20', lastDay: '2027-06-08', count: 201 }])
    expect(boundedTotals(ofDays)).toHaveLength(200)
    expect(await figuresOf('2026-11-20', '2027-06-08')).toStrictEqual([201, 201])
    expect(await figuresOf('2026-12-01', '2026-12-31')).toStrictEqual([42, 31])
    await expectBalanced(deps, client)
  })
})
