import { randomUUID } from 'node:crypto'
import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { INVALID } from './table-backend.ts'
import type { TableCommands } from './table-commands.ts'

type Item = Record<string, unknown>

const names = (...attributes: readonly string[]) =>
  Object.fromEntries(attributes.map((attribute) => [`#${attribute}`, attribute]))

/** UTF-8 order, in which the last two stand the other way round than in JavaScript. */
const SORTED = ['A', 'B#1', 'B#2', 'B#3', 'C', 'Z', 'a', 'é', '\uffee', '😀']

/** A partition of the table with these sort keys, written in another order. */
const prepare = async (commands: TableCommands) => {
  const pk = `conformance-${randomUUID()}`
  for (const sk of SORTED.toReversed()) await commands.put({ pk, sk }, { value: sk })
  const ask = (condition: string, values: Item, more: Partial<QueryCommandInput> = {}) =>
    commands.query({
      KeyConditionExpression: `#pk = :pk${condition}`,
      ExpressionAttributeNames: condition.includes('#sk') ? names('pk', 'sk') : names('pk'),
      ExpressionAttributeValues: { ':pk': pk, ...values },
      ConsistentRead: true,
      ...more,
    })
  const items = (sortKeys: readonly string[]) => sortKeys.map((sk) => ({ pk, sk, value: sk }))
  const page = (sortKeys: readonly string[], last?: string) => ({
    output: {
      Items: items(sortKeys),
      Count: sortKeys.length,
      ScannedCount: sortKeys.length,
      ...(last !== undefined && { LastEvaluatedKey: { pk, sk: last } }),
    },
  })
  return { pk, ask, page }
}

export const queriesConformance = (open: () => TableCommands): void => {
  describe('a query of the table', () => {
    it('answers a partition in the order of UTF-8', async () => {
      const { ask, page } = await prepare(open())

      expect(await ask('', {})).toStrictEqual(page(SORTED))
      expect(await ask('', {}, { ScanIndexForward: false })).toStrictEqual(page(SORTED.toReversed()))
    })

    it.each<readonly [string, string, Item, readonly string[]]>([
      ['one sort key', '#sk = :a', { ':a': 'B#2' }, ['B#2']],
      ['a sort key that is not there', '#sk = :a', { ':a': 'B' }, []],
      ['all up to one', '#sk <= :a', { ':a': 'B#2' }, ['A', 'B#1', 'B#2']],
      ['all up to one that is not there', '#sk <= :a', { ':a': 'B#11' }, ['A', 'B#1']],
      ['nothing so low', '#sk <= :a', { ':a': '0' }, []],
      ['all between two', '#sk BETWEEN :a AND :b', { ':a': 'B#2', ':b': 'Z' }, ['B#2', 'B#3', 'C', 'Z']],
      ['all between two that are not there', '#sk BETWEEN :a AND :b', { ':a': 'B', ':b': 'B$' }, ['B#1', 'B#2', 'B#3']],
      ['one between itself', '#sk BETWEEN :a AND :a', { ':a': 'C' }, ['C']],
      ['all with a beginning', 'begins_with(#sk, :a)', { ':a': 'B#' }, ['B#1', 'B#2', 'B#3']],
      ['one that begins with itself', 'begins_with(#sk, :a)', { ':a': '😀' }, ['😀']],
      ['nothing with a beginning', 'begins_with(#sk, :a)', { ':a': 'B$' }, []],
    ])('takes a range: %s', async (_, condition, values, expected) => {
      const { ask, page } = await prepare(open())

      expect(await ask(` AND ${condition}`, values)).toStrictEqual(page(expected))
      expect(await ask(` AND ${condition}`, values, { ScanIndexForward: false })).toStrictEqual(
        page(expected.toReversed()),
      )
    })

    it('cuts a page at the limit, and has a cursor even when the page was the last', async () => {
      const { ask, page } = await prepare(open())

      expect(await ask('', {}, { Limit: 2 })).toStrictEqual(page(['A', 'B#1'], 'B#1'))
      expect(await ask('', {}, { Limit: 10 })).toStrictEqual(page(SORTED, '😀'))
      expect(await ask('', {}, { Limit: 11 })).toStrictEqual(page(SORTED))
      expect(await ask(' AND begins_with(#sk, :a)', { ':a': 'B#' }, { Limit: 3 })).toStrictEqual(
        page(['B#1', 'B#2', 'B#3'], 'B#3'),
      )
    })

    it('has no cursor at the far bound of its range, behind which nothing can be', async () => {
      const { ask, page } = await prepare(open())
      const between = (more: Partial<QueryCommandInput>) =>
        ask(' AND #sk BETWEEN :a AND :b', { ':a': 'B#1', ':b': 'B#2' }, more)

      expect(await between({ Limit: 2 })).toStrictEqual(page(['B#1', 'B#2']))
      expect(await between({ Limit: 2, ScanIndexForward: false })).toStrictEqual(page(['B#2', 'B#1']))
      expect(await between({ Limit: 1 })).toStrictEqual(page(['B#1'], 'B#1'))
      expect(await ask(' AND #sk <= :a', { ':a': 'A' }, { Limit: 1 })).toStrictEqual(page(['A']))
      expect(await ask(' AND #sk = :a', { ':a': 'A' }, { Limit: 1 })).toStrictEqual(page(['A'], 'A'))
    })

    it('goes on behind a cursor, in both directions, even when its item is gone', async () => {
      const { ask, page, pk } = await prepare(open())
      const from = (sk: string) => ({ Limit: 2, ExclusiveStartKey: { pk, sk } })

      expect(await ask('', {}, from('B#1'))).toStrictEqual(page(['B#2', 'B#3'], 'B#3'))
      expect(await ask('', {}, from('B#11'))).toStrictEqual(page(['B#2', 'B#3'], 'B#3'))
      expect(await ask('', {}, from('😀'))).toStrictEqual(page([]))
      expect(await ask('', {}, { ...from('B#2'), ScanIndexForward: false })).toStrictEqual(page(['B#1', 'A'], 'A'))
      expect(await ask('', {}, { ...from('A'), ScanIndexForward: false })).toStrictEqual(page([]))
    })

    it('counts without bringing the items', async () => {
      const { ask, pk } = await prepare(open())

      expect(await ask('', {}, { Select: 'COUNT', Limit: 3 })).toStrictEqual({
        output: { Count: 3, ScannedCount: 3, LastEvaluatedKey: { pk, sk: 'B#2' } },
      })
    })

    it('answers an empty partition', async () => {
      const { ask, page } = await prepare(open())

      expect(await ask('', { ':pk': randomUUID() })).toStrictEqual(page([]))
    })

    it('ends a page at 1 MB, the item that reaches it included', async () => {
      const { put, query } = open()
      const pk = `conformance-${randomUUID()}`
      const sortKeys = ['a', 'b', 'c', 'd', 'e']
      for (const sk of sortKeys) await put({ pk, sk }, { data: 'x'.repeat(400_000) })
      const ask = (start?: Item) =>
        query({
          KeyConditionExpression: '#pk = :pk',
          ExpressionAttributeNames: names('pk'),
          ExpressionAttributeValues: { ':pk': pk },
          Select: 'COUNT',
          ConsistentRead: true,
          ...(start && { ExclusiveStartKey: start }),
        })

      const cursor = { pk, sk: 'c' }
      expect(await ask()).toStrictEqual({ output: { Count: 3, ScannedCount: 3, LastEvaluatedKey: cursor } })
      expect(await ask(cursor)).toStrictEqual({ output: { Count: 2, ScannedCount: 2 } })
    })

    it.each<readonly [string, string, Item, Partial<QueryCommandInput>]>([
      ['no limit of zero', '', {}, { Limit: 0 }],
      ['bounds the wrong way round', ' AND #sk BETWEEN :a AND :b', { ':a': 'b', ':b': 'a' }, {}],
      ['a number for a text', ' AND #sk <= :a', { ':a': 5 }, {}],
      ['an empty beginning', ' AND begins_with(#sk, :a)', { ':a': '' }, {}],
      ['an empty bound', ' AND #sk <= :a', { ':a': '' }, {}],
      ['an undefined bound', ' AND #sk <= :a', { ':a': undefined }, {}],
      ['two conditions on one attribute', ' AND #sk <= :a AND #sk = :a', { ':a': 'a' }, {}],
      ['a cursor of another partition', '', {}, { ExclusiveStartKey: { pk: 'other', sk: 'a' } }],
      ['half a cursor', '', {}, { ExclusiveStartKey: { pk: 'other' } }],
      ['an empty partition key', '', { ':pk': '' }, {}],
    ])('is invalid: %s', async (_, condition, values, more) => {
      const { ask } = await prepare(open())

      expect(await ask(condition, values, more)).toStrictEqual({ error: INVALID })
    })

    it.each([
      ['without a condition on the partition key', '#sk = :v', ['sk']],
      ['with a range of partition keys', '#pk <= :v', ['pk']],
      ['with another attribute', '#pk = :v AND #value = :v', ['pk', 'value']],
    ])('is invalid %s', async (_, KeyConditionExpression, attributes) => {
      const { query } = open()
      const outcome = await query({
        KeyConditionExpression,
        ExpressionAttributeNames: names(...attributes),
        ExpressionAttributeValues: { ':v': 'x' },
        ConsistentRead: true,
      })

      expect(outcome).toStrictEqual({ error: INVALID })
    })

    it('refuses a cursor outside of its range', async () => {
      const { ask, page, pk } = await prepare(open())
      const from = (sk: string) => ask(' AND begins_with(#sk, :a)', { ':a': 'B#' }, { ExclusiveStartKey: { pk, sk } })

      expect(await from('A')).toStrictEqual({ error: INVALID })
      expect(await from('C')).toStrictEqual({ error: INVALID })
      expect(await from('B#')).toStrictEqual(page(['B#1', 'B#2', 'B#3']))
    })
  })

  describe('a batch read', () => {
    it('answers what is there, in any order', async () => {
      const { batchGet, backend } = open()
      const { pk } = await prepare(open())
      const outcome = await batchGet([
        { pk, sk: 'A' },
        { pk, sk: 'none' },
        { pk, sk: 'C' },
      ])

      const found = [
        { pk, sk: 'A', value: 'A' },
        { pk, sk: 'C', value: 'C' },
      ]
      expect(outcome).toStrictEqual({
        output: { Responses: { [backend.tableName]: expect.anything() }, UnprocessedKeys: {} },
      })
      expect(itemsOf(outcome, backend.tableName)).toStrictEqual(found)
    })

    it.each([
      ['no keys', []],
      ['a key twice', ['a', 'b', 'a']],
      ['more than 100 keys', Array.from({ length: 101 }, (_, at) => String(at))],
    ])('is invalid with %s', async (_, sortKeys) => {
      const { batchGet } = open()

      expect(await batchGet(sortKeys.map((sk) => ({ pk: 'x', sk })))).toStrictEqual({ error: INVALID })
    })

    it('leaves keys unprocessed beyond 16 MB', async () => {
      const { put, batchGet, backend } = open()
      const pk = `conformance-${randomUUID()}`
      const keys = Array.from({ length: 43 }, (_, at) => ({ pk, sk: String(at) }))
      for (const key of keys) await put(key, { data: 'x'.repeat(400_000) })

      const outcome = await batchGet(keys)

      expect(itemsOf(outcome, backend.tableName)).toHaveLength(41)
      expect(outcome).toMatchObject({
        output: { UnprocessedKeys: { [backend.tableName]: { Keys: { length: 2 }, ConsistentRead: true } } },
      })
    })
  })
}

type BatchAnswer = { readonly output?: { readonly Responses?: Readonly<Record<string, readonly Item[]>> } }

const itemsOf = (outcome: object, tableName: string): readonly Item[] =>
  ((outcome as BatchAnswer).output?.Responses?.[tableName] ?? []).toSorted((a, b) =>
    String(a['sk']) < String(b['sk']) ? -1 : 1,
  )
