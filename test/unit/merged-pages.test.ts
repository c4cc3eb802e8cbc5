import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { pageOf } from '../../shared/page.ts'
import { isNew } from '../../shared/table/condition.ts'
import { pkPrefix } from '../../shared/table/keys.ts'
import { listMergedItems } from '../../shared/table/list-merged-items.ts'
import { mergedPages } from '../../shared/table/merged-pages.ts'
import { put, update } from '../../shared/table/step.ts'
import { interceptTable, recordTable } from '../support/intercept-table.ts'
import { memoryDeps } from '../support/memory-deps.ts'

/** Rows of few times, so that many share one, in up to four partitions, one of which may be empty. */
const rows = fc.uniqueArray(
  fc.record({ part: fc.nat(3), listedAt: fc.constantFrom('t1', 't2', 't3'), id: fc.stringMatching(/^[a-z]{4}$/) }),
  { selector: ({ id }) => id, maxLength: 30 },
)
type Row = { readonly part: number; readonly listedAt: string; readonly id: string }

const OWNERS = ['one', 'two', 'three', 'four']
const keyOf = (id: string) => ({ pk: `${pkPrefix('SUSPENSE')}${id}`, sk: 'ROW' })
const place = ({ listedAt, id }: { readonly listedAt?: unknown; readonly id?: unknown }) =>
  `${String(listedAt)} ${String(id)}`

const stored = async (all: readonly Row[]) => {
  const deps = memoryDeps()
  for (const { part, ...row } of all) {
    await deps.table.write(put(keyOf(row.id), { ...row, owner: OWNERS[part], entity: 'row' }, isNew))
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
        const after = last && { ...keyOf(last.id), listed_at: last.listedAt, id: last.id }

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
    { numRuns: 200 },
  ))

it('a page of a list over several partitions is that of one list, however deep', () =>
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
    { numRuns: 200 },
  ))

it('a first page costs one query of each partition and one batch, and a row that left its partition is not shown', async () => {
  const all = Array.from({ length: 40 }, (_, at) => ({ part: at % 4, listedAt: 't1', id: `id${at}` }))
  const deps = await stored(all)
  // Between the queries and the batch read, which is what a lagging index looks like.
  const { deps: watched, calls } = recordTable(
    interceptTable(deps, {
      after: async ({ name }) => {
        if (name === 'query') await deps.table.write(update(keyOf('id9'), { set: { owner: 'another' } }))
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
