import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pageOf } from '../../shared/page.ts'
import { foundKey, PARTITIONS, pkPrefix } from '../../shared/table/keys.ts'
import { listItems, listMergedItems, mergedPages } from '../../shared/table/list-items.ts'
import { isNew, put, update } from '../../shared/table/step.ts'
import { addMs, timestampOf } from '../../shared/time.ts'
import { interceptTable, recordTable } from '../support/intercept-table.ts'
import { memoryDeps } from '../support/memory-deps.ts'
import { runs } from '../support/runs.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

/** An owner with rows of these ids, each a millisecond older than the one before it. */
const anOwner = async (ids: readonly string[] = []) => {
  const deps = testDeps()
  const owner = deps.newId()
  const START = timestampOf(Date.UTC(2026, 0, 1))
  const keyOf = (id = '') => ({ pk: `${pkPrefix('SUSPENSE')}${owner}#${id}`, sk: 'ROW' })
  const rows = ids.map((id, at) => ({ owner, entity: 'row', status: 'pending', listedAt: addMs(START, -at), id }))
  await Promise.all(rows.map((row) => deps.table.write(put(keyOf(row.id), row, isNew))))
  return {
    deps,
    keyOf,
    rows: rows.map((row) => ({ ...keyOf(row.id), ...row })),
    list: (page: number, perPage: number, from: TestDeps = deps, status?: string) =>
      listItems(from, {
        kind: 'SUSPENSE',
        page: pageOf({ page, per_page: perPage }),
        ...(status === undefined
          ? { index: 'by-owner', partition: [owner, 'row'] }
          : { index: 'by-status', partition: [owner, 'row', status] }),
      }),
  }
}

const ids = (count: number) => Array.from({ length: count }, (_, at) => String(at))

describe('listItems', () => {
  it('answers each row of an owner once and whole over all pages, newest first, and nothing past the end', async () => {
    const [{ rows, list }] = [await anOwner(ids(4)), await anOwner(['another'])]

    expect(await Promise.all([1, 2, 3, 1_000_000].map((page) => list(page, 2)))).toStrictEqual([
      rows.slice(0, 2),
      rows.slice(2),
      [],
      [],
    ])
  })

  it('reaches a page of 100 after more keys than one query passes over', async () => {
    const { deps, rows, list } = await anOwner(ids(230))
    // As if DynamoDB's 1 MB were 70 keys: its pages end where it likes, not where we ask.
    const short = interceptTable(deps, { asQuery: (query) => ({ ...query, limit: Math.min(query.limit, 70) }) })

    expect(await list(2, 100, short)).toStrictEqual(rows.slice(100, 200))
  })

  it('leaves out a row that the index still shows although it has moved on or is gone', async () => {
    const { deps, keyOf, rows, list } = await anOwner(['stays', 'moves', 'goes'])
    // The two changes happen between the query and the batch read, which is what a lagging index looks like.
    const lagging = interceptTable(deps, {
      after: async ({ name }) => {
        if (name !== 'query') return
        await deps.table.write(update(keyOf('moves'), { set: { status: 'succeeded' } }))
        await deps.table.write(update(keyOf('goes'), { remove: ['owner'] }))
      },
    })

    expect(await list(1, 25, lagging, 'pending')).toStrictEqual(rows.slice(0, 1))
  })
})

describe('lists over several partitions', () => {
  /** Rows of few times, so that many share one, in up to four partitions. One partition may be empty. */
  const rows = fc.uniqueArray(
    fc.record({ part: fc.nat(3), listedAt: fc.constantFrom('t1', 't2', 't3'), id: fc.stringMatching(/^[a-z]{4}$/) }),
    { selector: ({ id }) => id, maxLength: 30 },
  )
  type Row = { readonly part: number; readonly listedAt: string; readonly id: string }

  const OWNERS = ['one', 'two', 'three', 'four']
  const suspenseKeyOf = (id: string) => ({ pk: `${pkPrefix('SUSPENSE')}${id}`, sk: 'ROW' })
  const place = ({ listedAt, id }: { readonly listedAt?: unknown; readonly id?: unknown }) =>
    `${String(listedAt)} ${String(id)}`

  const stored = async (all: readonly Row[]) => {
    const deps = memoryDeps()
    for (const { part, ...row } of all) {
      await deps.table.write(put(suspenseKeyOf(row.id), { ...row, owner: OWNERS[part], entity: 'row' }, isNew))
    }
    return deps
  }
  const partitions = OWNERS.map((owner) => [owner, 'row'])
  const inOrder = (all: readonly Row[], newestFirst = false) => {
    const places = all.map(place).toSorted()
    return newestFirst ? places.toReversed() : places
  }

  it('several partitions are read as if they were one, in pages of any size, either way, from any row on', () =>
    fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        fc.nat(),
        async (all, limit, newestFirst, at) => {
          const deps = await stored(all)
          const expected = inOrder(all, newestFirst)
          const from = at % (all.length + 1)
          const last = all.find((row) => place(row) === expected[from - 1])
          const after = last && { ...suspenseKeyOf(last.id), listed_at: last.listedAt, id: last.id }

          const found: string[] = []
          const mores: boolean[] = []
          const input = { index: 'by-owner', partitions, newestFirst, limit } as const
          for await (const page of mergedPages(deps, input, after)) {
            found.push(...page.items.map(place))
            mores.push(page.more)
          }

          expect(found).toStrictEqual(expected.slice(from))
          expect(mores).toStrictEqual([...mores.slice(1).map(() => true), false])
        },
      ),
      { numRuns: runs(50) },
    ))

  it('a page over several partitions equals that of one list, however deep', () =>
    fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 9 }),
        async (all, perPage, page) => {
          const deps = await stored(all)

          const items = await listMergedItems(deps, {
            kind: 'SUSPENSE',
            index: 'by-owner',
            partitions,
            page: pageOf({ page, per_page: perPage }),
          })

          expect(items.map(place)).toStrictEqual(inOrder(all, true).slice((page - 1) * perPage, page * perPage))
        },
      ),
      { numRuns: runs(50) },
    ))

  it('a first page costs one query of each partition and one batch, and a row that left its partition is not shown', async () => {
    const all = Array.from({ length: 40 }, (_, at) => ({ part: at % 4, listedAt: 't1', id: `id${at}` }))
    const deps = await stored(all)
    // Between the queries and the batch read, which is what a lagging index looks like.
    const { deps: watched, calls } = recordTable(
      interceptTable(deps, {
        after: async ({ name }) => {
          if (name === 'query') await deps.table.write(update(suspenseKeyOf('id9'), { set: { owner: 'another' } }))
        },
      }),
    )
    const list = { kind: 'SUSPENSE', index: 'by-owner', partitions, page: pageOf({ page: 1, per_page: 25 }) } as const

    const items = await listMergedItems(watched, list)

    expect(items.map(place)).toStrictEqual(
      inOrder(all, true)
        .slice(0, 25)
        .filter((one) => one !== 't1 id9'),
    )
    expect(calls.filter((call) => 'query' in call)).toHaveLength(4)
  })
})

it('kinds of partitions cannot be taken for one another: no prefix begins with another', () => {
  const clashes = PARTITIONS.flatMap((one) =>
    PARTITIONS.filter((other) => other !== one && pkPrefix(one).startsWith(pkPrefix(other))),
  )

  expect(clashes).toStrictEqual([])
})

it.each([
  { pk: 'CLIENT#1', sk: 'CLIENT' },
  { pk: 'PAYMENTS#1', sk: 'PAYMENT' },
  { pk: 'PAYMENT#1' },
  { sk: 'PAYMENT' },
  {},
])('foundKey refuses %j where a payment is looked for', (row) => {
  expect(() => foundKey('PAYMENT', row)).toThrow('not of PAYMENT')
})
