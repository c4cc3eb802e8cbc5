import { randomUUID } from 'node:crypto'
import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { exists, isNew } from '../../../shared/table/condition.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { INVALID, REFUSED } from './table-backend.ts'
import { aKey, type Key, type TableCommands } from './table-commands.ts'

type Item = Record<string, unknown>
type IndexName = keyof typeof TABLE_SCHEMA.indexes

/** Queries of an index by the attributes given; a range goes over `due_at`. */
const asking =
  ({ query }: TableCommands) =>
  (IndexName: IndexName, partition: Item, range = '', more: Partial<QueryCommandInput> = {}) => {
    const attributes = [...Object.keys(partition), ...(range.match(/(?<=#)\w+/g) ?? [])]
    return query({
      IndexName,
      KeyConditionExpression: [
        ...Object.keys(partition).map((attribute) => `#${attribute} = :${attribute}`),
        ...(range === '' ? [] : [range]),
      ].join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(attributes.map((attribute) => [`#${attribute}`, attribute])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(Object.entries(partition).map(([attribute, value]) => [`:${attribute}`, value])),
        ...(range.includes(':a') && { ':a': '2026-11-02' }),
        ...(range.includes(':b') && { ':b': '2026-11-03' }),
      },
      ...more,
    })
  }

const page = (items: readonly Item[], cursor?: Item) => ({
  output: {
    Items: items,
    Count: items.length,
    ScannedCount: items.length,
    ...(cursor && { LastEvaluatedKey: cursor }),
  },
})

const keyedBy = (item: Item, ...attributes: readonly string[]) =>
  Object.fromEntries(attributes.map((attribute) => [attribute, item[attribute]]))

/** A work of our own with an item due on each of the days. */
const prepareWork = async (commands: TableCommands) => {
  const work = randomUUID()
  const items: (Item & Key)[] = ['01', '02', '02', '03', '04'].map((day, at) => ({
    ...aKey(),
    work,
    slot: 7,
    due_at: `2026-11-${day}`,
    id: `id-${at}`,
    other: 'not projected',
  }))
  for (const { pk, sk, ...item } of items.toReversed()) await commands.put({ pk, sk }, item)
  const entries = items.map((item) => keyedBy(item, 'pk', 'sk', 'work', 'slot', 'due_at', 'id'))
  return { work, items, entries, ask: asking(commands) }
}

export const indexesConformance = (open: () => TableCommands): void => {
  describe('an index', () => {
    it('answers its keys and the table’s, sorted by both sort attributes', async () => {
      const { work, entries, ask } = await prepareWork(open())

      expect(await ask('by-due', { work, slot: 7 })).toStrictEqual(page(entries))
      expect(await ask('by-due', { work, slot: 7 }, '', { ScanIndexForward: false })).toStrictEqual(
        page(entries.toReversed()),
      )
      expect(await ask('by-due', { work, slot: 8 })).toStrictEqual(page([]))
    })

    it.each([
      ['#due_at <= :a', [0, 1, 2]],
      ['#due_at BETWEEN :a AND :b', [1, 2, 3]],
      ['begins_with(#due_at, :a)', [1, 2]],
      ['#due_at = :b', [3]],
    ])('takes a range over the first sort attribute: %s', async (range, expected) => {
      const { work, entries, ask } = await prepareWork(open())

      const found = expected.map((at) => entries[at] ?? {})
      expect(await ask('by-due', { work, slot: 7 }, range)).toStrictEqual(page(found))
    })

    it('continues behind a cursor of all its keys', async () => {
      const { work, entries, ask } = await prepareWork(open())
      const from = (cursor: Item | undefined, ScanIndexForward = true) =>
        ask('by-due', { work, slot: 7 }, '', { Limit: 2, ScanIndexForward, ExclusiveStartKey: cursor })

      expect(await from(undefined)).toStrictEqual(page(entries.slice(0, 2), entries[1]))
      expect(await from(entries[1])).toStrictEqual(page(entries.slice(2, 4), entries[3]))
      expect(await from(entries[3])).toStrictEqual(page(entries.slice(4)))
      expect(await from(entries[2], false)).toStrictEqual(page([entries[1] ?? {}, entries[0] ?? {}], entries[0]))
    })

    it('counts', async () => {
      const { work, entries, ask } = await prepareWork(open())

      expect(await ask('by-due', { work, slot: 7 }, '', { Select: 'COUNT', Limit: 3 })).toStrictEqual({
        output: { Count: 3, ScannedCount: 3, LastEvaluatedKey: entries[2] },
      })
    })

    it('has the attributes that it includes, if the item has them', async () => {
      const { put, query } = open()
      const [first, second] = [aKey(), aKey()]
      const client_id = randomUUID()
      const fee = { net_minor: 90, fee_status: 'final' }
      await put(first, { client_id, paid_at: 't1', id: 'a', ...fee, status: 'succeeded' })
      await put(second, { client_id, paid_at: 't2', id: 'b' })

      expect(await asking({ ...open(), query })('by-paid', { client_id })).toStrictEqual(
        page([
          { ...first, client_id, paid_at: 't1', id: 'a', ...fee },
          { ...second, client_id, paid_at: 't2', id: 'b' },
        ]),
      )
    })

    it('has an item only while it has every key attribute, under its present values', async () => {
      const commands = open()
      const { put, update, remove } = commands
      const key = aKey()
      const owner = randomUUID()
      const item = { owner, entity: 'payment', listed_at: 't', id: 'a' }
      const entry = { ...key, ...item }
      const listed = async (status: string) => {
        const answer = await asking(commands)('by-status', { owner, entity: 'payment', status })
        return 'output' in answer ? answer.output['Items'] : answer
      }

      await put(key, item)
      const seen = [await listed('pending')]
      await update(key, { set: { status: 'pending' } })
      seen.push(await listed('pending'))
      await update(key, { set: { status: 'paid' } })
      seen.push(await listed('pending'), await listed('paid'))
      await update(key, { remove: ['id'] })
      seen.push(await listed('paid'))
      await update(key, { set: { id: 'b' } })
      seen.push(await listed('paid'))
      await remove(key, exists)
      seen.push(await listed('paid'))

      const paid = { ...entry, status: 'paid' }
      expect(seen).toStrictEqual([[], [{ ...entry, status: 'pending' }], [], [paid], [], [{ ...paid, id: 'b' }], []])
    })

    it('is not read consistently, nor without all its partition attributes, nor by another name', async () => {
      const { work, ask } = await prepareWork(open())

      expect(await ask('by-due', { work, slot: 7 }, '', { ConsistentRead: true })).toStrictEqual({ error: INVALID })
      expect(await ask('by-due', { work })).toStrictEqual({ error: INVALID })
      expect(await ask('by-due', { work, slot: '7' })).toStrictEqual({ error: INVALID })
      expect(await ask('by-due', { work, slot: 7 }, '#id = :a')).toStrictEqual({ error: INVALID })
      expect(await ask('by-due', { work, slot: 7 }, '', { IndexName: 'by-none' })).toStrictEqual({ error: INVALID })
    })

    it('refuses a cursor that does not fit', async () => {
      const { work, entries, ask } = await prepareWork(open())
      const from = (change: Item, range = '') =>
        ask('by-due', { work, slot: 7 }, range, { ExclusiveStartKey: { ...entries[1], ...change } })

      expect(await from({ slot: 8 })).toStrictEqual({ error: INVALID })
      expect(await from({ slot: '7' })).toStrictEqual({ error: INVALID })
      expect(await from({ id: '' })).toStrictEqual({ error: INVALID })
      expect(await from({ more: 1 })).toStrictEqual({ error: INVALID })
      expect(await from({ due_at: '2026-11-03' }, '#due_at <= :a')).toStrictEqual({ error: INVALID })
    })
  })

  describe('an attribute that is a key of an index', () => {
    it.each<readonly [string, Item]>([
      ['of another type', { status: 5 }],
      ['text for a number', { slot: '5' }],
      ['null', { owner: null }],
      ['an empty text', { owner: '' }],
      ['too long for a partition', { owner: 'x'.repeat(2_049) }],
      ['too long to sort by', { listed_at: 'x'.repeat(1_025) }],
      ['too long for a partition with the others', { owner: 'x'.repeat(2_000), entity: 'x'.repeat(49) }],
      ['too long to sort by with the others', { listed_at: 'x'.repeat(1_000), id: 'x'.repeat(25) }],
    ])('is invalid in a put, whatever its condition: %s', async (_, item) => {
      const { put } = open()

      expect(await put(aKey(), item)).toStrictEqual({ error: INVALID })
      expect(await put(aKey(), item, exists)).toStrictEqual({ error: INVALID })
    })

    it.each<readonly [string, Item]>([
      ['of another type', { status: 5 }],
      ['text for a number', { slot: '5' }],
      ['an empty text', { owner: '' }],
      ['too long', { listedAt: 'x'.repeat(1_025) }],
    ])('is invalid in an update that its condition allows: %s', async (_, set) => {
      const { update, get } = open()
      const key = aKey()

      expect(await update(key, { set }, exists)).toStrictEqual({ error: REFUSED })
      expect(await update(key, { set }, isNew)).toStrictEqual({ error: INVALID })
      expect(await get(key)).toBeUndefined()
    })

    it('may be as long as all of its kind together may be', async () => {
      const { put } = open()

      expect(await put(aKey(), { owner: 'x'.repeat(2_000), entity: 'x'.repeat(48) })).toStrictEqual({ output: {} })
      expect(await put(aKey(), { listed_at: 'x'.repeat(1_000), id: 'x'.repeat(24) })).toStrictEqual({ output: {} })
    })
  })
}
