import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { handler as getBooks } from '../../../functions/admin/get-books.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { queriesIn, recordTable } from '../../support/intercept-table.ts'
import { depsWithLateIndexes, memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { booksOf, WHOLE } from './books-asked.ts'
import { aBookClient, aPosted, settled, threeDays } from './books-world.ts'

describe('get-books of many merchants and payments', () => {
  it('reads no entry that a settlement has taken', async () => {
    const deps = memoryDeps()
    const { a } = await threeDays(deps)
    const { settledUntil } = await readWindow(deps, a.clientId)
    const recorded = recordTable(deps)

    await booksOf(recorded.deps, { client_id: a.clientId })

    const read = queriesIn(recorded.calls).filter(({ partition }) => partition[0] === `JOURNAL#${a.clientId}`)
    expect(read.length).toBeGreaterThan(0)
    for (const { range } of read) expect(range).toMatchObject({ between: [settledUntil, expect.anything()] })
  })

  it('finds settlements that the index does not know yet', async () => {
    const { deps } = depsWithLateIndexes('SETTLEMENT#')
    const client = await aBookClient(deps)
    for (let day = 0; day < 3; day++) {
      await aPosted(deps, client, { feeMinor: 4_000 })
      deps.clock.advance(2 * 86_400)
      await settled(deps, client)
    }

    const books = await booksOf(deps, { client_id: client.clientId })

    expect(books).toMatchObject({ figures: { 'taken_in.virtual_account': 300_000, clients: 287_700 }, balanced: true })
  })

  it('answers a cursor when the time of a run is over, and the last run answers the whole', async () => {
    const deps = memoryDeps()
    await threeDays(deps)
    for (let more = 0; more < 90; more++) await aBookClient(deps)
    const wholeCsv = v.parse(v.object({ csv: v.string() }), (await invokeAdmin(getBooks, deps, { format: 'csv' })).body)
    let time = 0
    const slow = { ...deps, monotonicMs: () => (time += 300_000) }
    const Answer = v.object({ continuing: v.optional(v.boolean()), cursor: v.optional(v.string()), csv: v.string() })

    const runs: v.InferOutput<typeof Answer>[] = []
    let cursor: string | undefined
    do {
      const input = { format: 'csv', ...(cursor && { cursor }) }
      const run = v.parse(Answer, (await invokeAdmin(getBooks, slow, input)).body)
      runs.push(run)
      cursor = run.cursor
    } while (cursor && runs.length < 10)
    const first = await invokeAdmin(getBooks, slow, {})
    const { cursor: next } = v.parse(v.object({ cursor: v.string() }), first.body)
    const second = await invokeAdmin(getBooks, slow, { cursor: next })

    expect(runs.map(({ continuing }) => continuing)).toStrictEqual([true, true, undefined])
    expect(runs.map(({ csv }) => csv).join('')).toBe(wholeCsv.csv)
    expect(first.body).toStrictEqual({ continuing: true, cursor: expect.any(String) as unknown })
    // A cursor keeps its days, whatever the next call says of them.
    const { cursor: kept } = v.parse(v.object({ cursor: v.string() }), second.body)
    expect(await booksOf(slow, { cursor: kept, to: '2026-11-20' })).toMatchObject({ to: '2026-11-22', figures: WHOLE })
  })
})
