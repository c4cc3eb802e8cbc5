import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { QueryInput, Range } from '../../../shared/table/table.ts'
import { INVALID } from './table-backend.ts'
import type { TableCommands } from './table-commands.ts'

/** UTF-8 order, in which the last two stand the other way round than in JavaScript. */
const SORTED = ['A', 'B#1', 'B#2', 'B#3', 'C', 'Z', 'a', 'é', '\uffee', '😀']

/** A partition of the table with these sort keys, written in another order. */
const prepare = async (commands: TableCommands) => {
  const pk = `conformance-${randomUUID()}`
  for (const sk of SORTED.toReversed()) await commands.put({ pk, sk }, { value: sk })
  const ask = (more: Partial<QueryInput> = {}) => commands.query({ partition: [pk], limit: 100, ...more })
  const page = (sortKeys: readonly string[], last?: string) => ({
    items: sortKeys.map((sk) => ({ pk, sk, value: sk })),
    count: sortKeys.length,
    cursor: last === undefined ? undefined : { pk, sk: last },
  })
  return { pk, ask, page }
}

export const queriesConformance = (open: () => TableCommands): void => {
  describe('a query of the table', () => {
    it('answers a partition in the order of UTF-8', async () => {
      const { ask, page } = await prepare(open())

      expect(await ask()).toStrictEqual(page(SORTED))
      expect(await ask({ newestFirst: true })).toStrictEqual(page(SORTED.toReversed()))
    })

    it.each<readonly [string, Range, readonly string[]]>([
      ['all up to one', { atMost: 'B#2' }, ['A', 'B#1', 'B#2']],
      ['all up to one that is not there', { atMost: 'B#11' }, ['A', 'B#1']],
      ['nothing so low', { atMost: '0' }, []],
      ['all between two', { between: ['B#2', 'Z'] }, ['B#2', 'B#3', 'C', 'Z']],
      ['all between two that are not there', { between: ['B', 'B$'] }, ['B#1', 'B#2', 'B#3']],
      ['one between itself', { between: ['C', 'C'] }, ['C']],
      ['one between itself that is not there', { between: ['B', 'B'] }, []],
      ['all with a beginning', { beginsWith: 'B#' }, ['B#1', 'B#2', 'B#3']],
      ['one that begins with itself', { beginsWith: '😀' }, ['😀']],
      ['nothing with a beginning', { beginsWith: 'B$' }, []],
    ])('takes a range: %s', async (_, range, expected) => {
      const { ask, page } = await prepare(open())

      expect(await ask({ range })).toStrictEqual(page(expected))
      expect(await ask({ range, newestFirst: true })).toStrictEqual(page(expected.toReversed()))
    })

    it('cuts a page at the limit, and has a cursor even when the page was the last', async () => {
      const { ask, page } = await prepare(open())

      expect(await ask({ limit: 2 })).toStrictEqual(page(['A', 'B#1'], 'B#1'))
      expect(await ask({ limit: 10 })).toStrictEqual(page(SORTED, '😀'))
      expect(await ask({ limit: 11 })).toStrictEqual(page(SORTED))
      expect(await ask({ range: { beginsWith: 'B#' }, limit: 3 })).toStrictEqual(page(['B#1', 'B#2', 'B#3'], 'B#3'))
    })

    it('has no cursor at the far bound of its range, behind which nothing can be', async () => {
      const { ask, page } = await prepare(open())
      const between = (more: Partial<QueryInput>) => ask({ range: { between: ['B#1', 'B#2'] }, ...more })

      expect(await between({ limit: 2 })).toStrictEqual(page(['B#1', 'B#2']))
      expect(await between({ limit: 2, newestFirst: true })).toStrictEqual(page(['B#2', 'B#1']))
      expect(await between({ limit: 1 })).toStrictEqual(page(['B#1'], 'B#1'))
      expect(await ask({ range: { atMost: 'A' }, limit: 1 })).toStrictEqual(page(['A']))
      expect(await ask({ range: { beginsWith: 'A' }, limit: 1 })).toStrictEqual(page(['A'], 'A'))
    })

    it('goes on behind a cursor, in both directions, even when its item is gone', async () => {
      const { ask, page, pk } = await prepare(open())
      const from = (sk: string, newestFirst = false) => ask({ limit: 2, cursor: { pk, sk }, newestFirst })

      expect(await from('B#1')).toStrictEqual(page(['B#2', 'B#3'], 'B#3'))
      expect(await from('B#11')).toStrictEqual(page(['B#2', 'B#3'], 'B#3'))
      expect(await from('😀')).toStrictEqual(page([]))
      expect(await from('B#2', true)).toStrictEqual(page(['B#1', 'A'], 'A'))
      expect(await from('A', true)).toStrictEqual(page([]))
    })

    it('counts without bringing the items', async () => {
      const { ask, pk } = await prepare(open())

      expect(await ask({ countOnly: true, limit: 3 })).toStrictEqual({ items: [], count: 3, cursor: { pk, sk: 'B#2' } })
    })

    it('answers an empty partition', async () => {
      const { ask, page } = await prepare(open())

      expect(await ask({ partition: [randomUUID()] })).toStrictEqual(page([]))
    })

    it('ends a page at 1 MB, the item that reaches it included', async () => {
      const { put, query } = open()
      const pk = `conformance-${randomUUID()}`
      const sortKeys = ['a', 'b', 'c', 'd', 'e']
      for (const sk of sortKeys) await put({ pk, sk }, { data: 'x'.repeat(400_000) })
      const ask = (more: Partial<QueryInput> = {}) => query({ partition: [pk], limit: 100, countOnly: true, ...more })

      const cursor = { pk, sk: 'c' }
      expect(await ask()).toStrictEqual({ items: [], count: 3, cursor })
      expect(await ask({ cursor })).toStrictEqual({ items: [], count: 2, cursor: undefined })
    })

    it.each<readonly [string, Partial<QueryInput>]>([
      ['no limit of zero', { limit: 0 }],
      ['bounds the wrong way round', { range: { between: ['b', 'a'] } }],
      ['a number for a text', { range: { atMost: 5 } }],
      ['a number as a beginning', { range: { beginsWith: 5 as never } }],
      ['an empty beginning', { range: { beginsWith: '' } }],
      ['an empty bound', { range: { atMost: '' } }],
      ['an undefined bound', { range: { atMost: undefined } }],
      ['one undefined bound of two', { range: { between: ['a', undefined] } }],
      ['a cursor of another partition', { cursor: { pk: 'other', sk: 'a' } }],
      ['half a cursor', { cursor: { pk: 'other' } }],
      ['an empty partition key', { partition: [''] }],
      ['a partition key of another type', { partition: [5] }],
      ['no partition key', { partition: [] }],
    ])('is invalid: %s', async (_, more) => {
      const { ask } = await prepare(open())

      expect(await ask(more)).toStrictEqual({ error: INVALID })
    })

    it('refuses a cursor outside of its range', async () => {
      const { ask, page, pk } = await prepare(open())
      const from = (sk: string) => ask({ range: { beginsWith: 'B#' }, cursor: { pk, sk } })

      expect(await from('A')).toStrictEqual({ error: INVALID })
      expect(await from('C')).toStrictEqual({ error: INVALID })
      expect(await from('B#')).toStrictEqual(page(['B#1', 'B#2', 'B#3']))
    })
  })

  describe('a batch read', () => {
    it('answers what is there, in any order', async () => {
      const { batchGet } = open()
      const { pk } = await prepare(open())
      const outcome = await batchGet(['A', 'none', 'C'].map((sk) => ({ pk, sk })))

      const found = ['A', 'C'].map((sk) => ({ pk, sk, value: sk }))
      expect({ ...outcome, items: itemsOf(outcome) }).toStrictEqual({ items: found, unprocessed: [] })
    })

    it.each([
      ['no keys', []],
      ['a key twice', ['a', 'b', 'a']],
      ['more than 100 keys', Array.from({ length: 101 }, (_, at) => String(at))],
    ])('is invalid with %s', async (_, sortKeys) => {
      const { batchGet } = open()

      expect(await batchGet(sortKeys.map((sk) => ({ pk: 'x', sk })))).toStrictEqual({ error: INVALID })
    })
  })
}

type Items = readonly Readonly<Record<string, unknown>>[]

/** A batch read has no order. */
export const itemsOf = (outcome: object): Items =>
  'items' in outcome
    ? (outcome.items as Items).toSorted((a, b) => (String(a['pk']) + a['sk'] < String(b['pk']) + b['sk'] ? -1 : 1))
    : []
