import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { pageOf } from '../../shared/page.ts'
import { attributeName, fieldName, fromItem, toItem } from '../../shared/table/attributes.ts'
import { PARTITIONS, pkPrefix, rowKeysOf } from '../../shared/table/keys.ts'
import { listItems } from '../../shared/table/list-items.ts'
import { mergedPages } from '../../shared/table/merged-pages.ts'
import { isNew, put, update } from '../../shared/table/step.ts'
import { runs } from '../support/runs.ts'
import {
  interceptTable,
  memoryDeps,
  queriesIn,
  recordTable,
  withRequests,
} from '../support/test-deps.ts'
import { itHoldsFor } from './it-holds-for.ts'

// Two fields are never spelled alike, because each spelling leads back to its field.
itHoldsFor(fc.stringMatching(/^[a-z]+([A-Z][a-z0-9]*)*$/))(
  'the table spells any field in snake_case',
  (field) => {
    expect(attributeName(field)).toMatch(/^[a-z]+(_[a-z0-9]+)*$/)
    expect(fieldName(attributeName(field))).toBe(field)
  },
)

it('toItem and fromItem spell the top level alone', () => {
  expect(toItem({ bankDetails: { bankName: 'BCA' } })).toStrictEqual({
    bank_details: { bankName: 'BCA' },
  })
  expect(fromItem({ bank_details: { bank_name: 'BCA' } })).toStrictEqual({
    bankDetails: { bank_name: 'BCA' },
  })
})

const rows = fc.uniqueArray(
  fc.record({
    list: fc.nat(3),
    listedAt: fc.constantFrom('t1', 't2', 't3'),
    id: fc.stringMatching(/^[a-z]{4}$/),
  }),
  { selector: ({ id }) => id, maxLength: 30 },
)
type Row = { readonly list: number; readonly listedAt: string; readonly id: string }

const OWNERS = ['one', 'two', 'three', 'four']
function suspenseKeyOf(id: string) {
  return { pk: `${pkPrefix('SUSPENSE')}${id}`, sk: 'ROW' }
}
function place({ listedAt, id }: { readonly listedAt?: unknown; readonly id?: unknown }) {
  return `${String(listedAt)} ${String(id)}`
}

async function depsWith(all: readonly Row[]) {
  const deps = memoryDeps()
  for (const { list, ...row } of all) {
    await deps.table.write(
      put(suspenseKeyOf(row.id), { ...row, owner: OWNERS[list], entity: 'row' }, isNew),
    )
  }
  return deps
}

function newestFirst(all: readonly Row[]) {
  return all.map(place).toSorted().toReversed()
}

itHoldsFor(rows, fc.integer({ min: 1, max: 9 }))(
  'several lists are read like one list, newest first, in pages of any size',
  async (all, limit) => {
    const deps = await depsWith(all)
    const partitions = OWNERS.map((owner) => [owner, 'row'])

    const places: string[] = []
    const hasMore: boolean[] = []
    for await (const page of mergedPages(deps, { index: 'by-owner', partitions, limit })) {
      places.push(...page.items.map(place))
      hasMore.push(page.more)
    }

    expect(places).toStrictEqual(newestFirst(all))
    expect(hasMore).toStrictEqual([...hasMore.slice(1).map(() => true), false])
  },
  { numRuns: runs(50) },
)

const LIST = { kind: 'SUSPENSE', index: 'by-owner', partition: ['one', 'row'] } as const

function rowsOf(length: number) {
  return Array.from({ length }, (_, at) => ({ list: 0, listedAt: 't1', id: `id${at}` }))
}

it('a deep page is reached by short queries, and receives only its keys', async () => {
  const all = rowsOf(1_230)
  // As if DynamoDB's 1 MB were 70 keys: it ends a page before the asked limit.
  const deps = await depsWith(all)
  let keys = 0
  const query: typeof deps.requests.query = async (input) => {
    const answer = await deps.requests.query({ ...input, limit: Math.min(input.limit, 70) })
    keys += answer.items.length
    return answer
  }
  const page = pageOf({ page: 12, per_page: 100 })

  const items = await listItems(withRequests(deps, { ...deps.requests, query }), { ...LIST, page })

  expect(items.map(place)).toStrictEqual(newestFirst(all).slice(1_100, 1_200))
  expect(keys).toBe(130)
})

it.each([
  [1, 25],
  [2, 50],
])(
  'page %i costs one query for %i rows, and shows no row that has moved on',
  async (page, limit) => {
    const all = rowsOf(60)
    const deps = await depsWith(all)
    const shown = newestFirst(all).slice((page - 1) * 25, page * 25)
    const [moved = '', unlisted = ''] = shown.map((row) => row.slice(3))
    // The rows move between the query and the batch read, as with a lagging index.
    const { deps: watched, calls } = recordTable(
      interceptTable(deps, {
        after: async ({ name }) => {
          if (name !== 'query') return
          await deps.table.write(update(suspenseKeyOf(moved), { set: { owner: 'another' } }))
          await deps.table.write(update(suspenseKeyOf(unlisted), { remove: ['owner'] }))
        },
      }),
    )

    const items = await listItems(watched, { ...LIST, page: pageOf({ page, per_page: 25 }) })

    expect(items.map(place)).toStrictEqual(shown.slice(2))
    expect(queriesIn(calls).map((query) => query.limit)).toStrictEqual([limit])
  },
)

it('kinds of partitions cannot be taken for one another: no prefix begins with another', () => {
  const clashes = PARTITIONS.flatMap((kind) =>
    PARTITIONS.filter(
      (otherKind) => otherKind !== kind && pkPrefix(kind).startsWith(pkPrefix(otherKind)),
    ),
  )

  expect(clashes).toStrictEqual([])
})

it('rowKeysOf leaves out rows of another kind', () => {
  const others = [
    { pk: 'CLIENT#1', sk: 'CLIENT' },
    { pk: 'PAYMENTS#1', sk: 'PAYMENT' },
    { pk: 'PAYMENT#1' },
    { sk: 'PAYMENT' },
    {},
  ]
  const payment = { pk: 'PAYMENT#1', sk: 'PAYMENT' }

  expect(rowKeysOf('PAYMENT', [...others, payment])).toStrictEqual([payment])
})
