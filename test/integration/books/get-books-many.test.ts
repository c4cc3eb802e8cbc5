import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { handler as getBooks } from '../../../functions/admin/get-books.ts'
import { walkClients } from '../../../shared/client/client-register.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  aLoneClient,
  sweptNow,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { depsWithLateIndexes, memoryDeps, queriesIn, recordTable } from '../../support/test-deps.ts'
import { aPosted, booksOf, booksTest as it, MONTH } from './books-world.ts'

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
    const { deps, client } = await aLoneClient()
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
