import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { pageOf } from '../../shared/page.ts'
import { attributeName, fieldName, fromItem, toItem } from '../../shared/table/attributes.ts'
import { PARTITIONS, pkPrefix, rowKeyOf } from '../../shared/table/keys.ts'
import { listItems, mergedPages } from '../../shared/table/list-items.ts'
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

/** Rows of few times, so that many rows share a time, in up to four partitions. */
const rows = fc.uniqueArray(
  fc.record({
    part: fc.nat(3),
    listedAt: fc.constantFrom('t1', 't2', 't3'),
    id: fc.stringMatching(/^[a-z]{4}$/),
  }),
  { selector: ({ id }) => id, maxLength: 30 },
)
type Row = { readonly part: number; readonly listedAt: string; readonly id: string }

const OWNERS = ['one', 'two', 'three', 'four']
function suspenseKeyOf(id: string) {
  return { pk: `${pkPrefix('SUSPENSE')}${id}`, sk: 'ROW' }
}
function place({ listedAt, id }: { readonly listedAt?: unknown; readonly id?: unknown }) {
  return `${String(listedAt)} ${String(id)}`
}

async function depsWith(all: readonly Row[]) {
  const deps = memoryDeps()
  for (const { part, ...row } of all) {
    await deps.table.write(
      put(suspenseKeyOf(row.id), { ...row, owner: OWNERS[part], entity: 'row' }, isNew),
    )
  }
  return deps
}
const partitions = OWNERS.map((owner) => [owner, 'row'])
function inOrder(all: readonly Row[], newestFirst = false) {
  const places = all.map(place).toSorted()
  return newestFirst ? places.toReversed() : places
}

itHoldsFor(
  rows,
  fc.integer({ min: 1, max: 9 }),
  fc.boolean(),
  fc.nat(),
)(
  'several partitions are read like one partition, in pages of any size, in both directions, ' +
    'from any row on',
  async (all, limit, newestFirst, at) => {
    const deps = await depsWith(all)
    const expected = inOrder(all, newestFirst)
    const from = at % (all.length + 1)
    const last = all.find((row) => place(row) === expected[from - 1])
    const after = last && { ...suspenseKeyOf(last.id), listed_at: last.listedAt, id: last.id }

    const places: string[] = []
    const hasMore: boolean[] = []
    const input = { index: 'by-owner', partitions, newestFirst, limit } as const
    for await (const page of mergedPages(deps, input, after)) {
      places.push(...page.items.map(place))
      hasMore.push(page.more)
    }

    expect(places).toStrictEqual(expected.slice(from))
    expect(hasMore).toStrictEqual([...hasMore.slice(1).map(() => true), false])
  },
  { numRuns: runs(50) },
)

it('a page of 100 is reached after more keys than one query passes over', async () => {
  const all = Array.from({ length: 230 }, (_, at) => ({ part: 0, listedAt: 't1', id: `id${at}` }))
  // As if DynamoDB's 1 MB were 70 keys: DynamoDB ends a page before the asked limit.
  const deps = await depsWith(all)
  const query: typeof deps.requests.query = (input) =>
    deps.requests.query({ ...input, limit: Math.min(input.limit, 70) })
  const shortPages = withRequests(deps, { ...deps.requests, query })
  const list = { kind: 'SUSPENSE', index: 'by-owner', partitions: [['one', 'row']] } as const

  const items = await listItems(shortPages, { ...list, page: pageOf({ page: 2, per_page: 100 }) })

  expect(items.map(place)).toStrictEqual(inOrder(all, true).slice(100, 200))
})

it.each([
  [1, 1, 25],
  [1, 2, 50],
  [4, 1, 25],
  // Each partition has its share of the page before.
  [4, 2, 25 + 7],
])(
  'over %i partitions, page %i costs a query of each partition for %i rows, and shows no row that has moved on',
  async (count, page, limit) => {
    const all = Array.from({ length: 40 }, (_, at) => ({
      part: at % count,
      listedAt: 't1',
      id: `id${at}`,
    }))
    const deps = await depsWith(all)
    // The rows move between the queries and the batch read, as with a lagging index.
    const { deps: watched, calls } = recordTable(
      interceptTable(deps, {
        after: async ({ name }) => {
          if (name !== 'query') return
          await deps.table.write(update(suspenseKeyOf('id9'), { set: { owner: 'another' } }))
          await deps.table.write(update(suspenseKeyOf('id8'), { remove: ['owner'] }))
        },
      }),
    )
    const list = {
      kind: 'SUSPENSE',
      index: 'by-owner',
      page: pageOf({ page, per_page: 25 }),
    } as const

    const items = await listItems(watched, { ...list, partitions: partitions.slice(0, count) })

    const shown = inOrder(all, true).slice((page - 1) * 25, page * 25)
    expect(items.map(place)).toStrictEqual(
      shown.filter((row) => !['t1 id8', 't1 id9'].includes(row)),
    )
    expect(queriesIn(calls).map((query) => query.limit)).toStrictEqual(Array(count).fill(limit))
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

it.each([
  { pk: 'CLIENT#1', sk: 'CLIENT' },
  { pk: 'PAYMENTS#1', sk: 'PAYMENT' },
  { pk: 'PAYMENT#1' },
  { sk: 'PAYMENT' },
  {},
])('rowKeyOf refuses %j where a payment is looked for', (row) => {
  expect(() => rowKeyOf('PAYMENT', row)).toThrow('outside PAYMENT')
})
