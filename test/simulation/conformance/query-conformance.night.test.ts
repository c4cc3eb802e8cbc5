import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { toItem } from '../../../shared/table/attributes.ts'
import { put } from '../../../shared/table/step.ts'
import type { QueryInput, Range } from '../../../shared/table/table.ts'
import { describeOnDynamoDb } from '../../support/dynamodb.ts'
import { aKey, inAWord, onBoth, query, queryOnBoth, tallyOnBoth } from './on-both.ts'

/**
 * Goal: the table in memory finds what DynamoDB finds. Method: every range, direction and cursor
 * meet; pages of other sizes are among the random requests of `random-table-conformance.test.ts`.
 */
type Source = {
  readonly source: Pick<QueryInput, 'index' | 'partition'>
  readonly cursors: readonly Readonly<Record<string, unknown>>[]
}

/** In the order of UTF-8. JavaScript orders the last two the other way round. */
const SORTED = ['A', 'B#1', 'B#2', 'B#3', 'C', 'Z', 'a', 'é', '\uffee', '😀']

/**
 * A partition of the table with these sort keys, written in another order, and cursors beside them.
 */
async function table(): Promise<Source> {
  const pk = `conformance-${randomUUID()}`
  await onBoth(SORTED.toReversed().map((sk) => put({ pk, sk }, { value: sk })))
  return {
    source: { partition: [pk] },
    cursors: [...SORTED, 'B#', 'B#11', '0'].map((sk) => ({ pk, sk })),
  }
}

async function index(): Promise<Source> {
  const work = randomUUID()
  const days = ['2026-11-01', '2026-11-02', '2026-11-02', '2026-11-03', '2026-11-04']
  const items = days.map((dueAt, at) => ({ ...aKey(), work, slot: 7, dueAt, id: `id-${at}` }))
  await onBoth(
    items
      .toReversed()
      .map(({ pk, sk, ...item }) => put({ pk, sk }, { ...item, other: 'not projected' })),
  )
  return { source: { index: 'by-due', partition: [work, 7] }, cursors: items.map(toItem) }
}

function between(low: unknown, high: unknown): Range {
  return { between: [low, high] }
}
const RANGES = [
  {},
  ...['0', 'A', 'B#2', 'B#11', '2026-11-02'].map((atMost) => ({ range: { atMost } })),
  ...['B#', 'B$', 'A', '😀', '2026-11-02'].map((beginsWith) => ({ range: { beginsWith } })),
  ...[
    ['B#1', 'B#2'],
    ['B#2', 'Z'],
    ['B', 'B$'],
    ['C', 'C'],
    ['B', 'B'],
    ['2026-11-02', '2026-11-03'],
  ].map(([low, high]) => ({ range: between(low, high) })),
]
const DIRECTIONS = [false, true]

const describe = await describeOnDynamoDb()

describe.each([
  ['the table', table, { found: 51, more: 35, invalid: 594 }],
  ['an index', index, { found: 28, more: 28, invalid: 352 }],
])('a query of %s', (_, prepare, words) => {
  it('finds every range after every cursor, in both directions, and refuses cursors that do not fit', async () => {
    const { source, cursors } = await prepare()
    const [first = {}] = cursors
    const odd = [
      { sk: '' },
      { sk: undefined },
      { more: 1 },
      { pk: '' },
      { slot: '7' },
      { slot: 8 },
      { id: '' },
    ].map((change) => ({ ...first, ...change }))
    const asked = [...cursors, ...odd].flatMap((cursor) =>
      RANGES.map((range) =>
        DIRECTIONS.map((newestFirst) =>
          query({ ...source, ...range, newestFirst, limit: 2, cursor }),
        ),
      ),
    )

    expect(await tallyOnBoth(asked)).toStrictEqual(words)
  })

  it.each<Partial<QueryInput>>([
    { limit: 0 },
    { partition: [] },
    { partition: [''] },
    { partition: [5] },
    { partition: ['a'], index: 'by-due' },
    { partition: ['a', '7'], index: 'by-due' },
    { partition: ['a', undefined], index: 'by-due' },
    { range: between('b', 'a') },
    { range: between('a', undefined) },
    { range: { atMost: undefined } },
    { range: { atMost: 5 } },
    { range: { atMost: '' } },
    { range: { beginsWith: '' } },
    { range: { beginsWith: 5 as never } },
  ])('is invalid with %o', async (odd) => {
    const { source } = await prepare()

    expect((await onBoth([query({ ...source, limit: 10, ...odd })])).map(inAWord)).toStrictEqual([
      'invalid',
    ])
  })
})

describe('a page', () => {
  it('has the requested fields of each item, and the next page continues after it', async () => {
    const { source } = await table()

    const pages = await Promise.all(
      [['value'], ['sk', 'absent']].map((fields) => queryOnBoth({ ...source, fields, limit: 4 })),
    )

    const [values, keys] = pages.map((found) => found.flatMap((page) => page?.items ?? []))
    expect(values).toStrictEqual(SORTED.map((value) => ({ value })))
    expect(keys).toStrictEqual(SORTED.map((sk) => ({ sk })))
  })

  it('ends at 1 MB, including the item that reaches it', async () => {
    const pk = `conformance-${randomUUID()}`
    await onBoth(
      ['a', 'b', 'c', 'd', 'e'].map((sk) => put({ pk, sk }, { data: 'x'.repeat(400_000) })),
    )

    const pages = await queryOnBoth({ partition: [pk], limit: 100, countOnly: true })
    expect(pages.map((page) => page?.count)).toStrictEqual([3, 2])
  })
})
