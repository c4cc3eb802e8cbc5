import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toItem } from '../../../shared/table/attributes.ts'
import { exists, isNew } from '../../../shared/table/condition.ts'
import type { IndexName } from '../../../shared/table/schema.ts'
import type { QueryInput, Range } from '../../../shared/table/table.ts'
import { INVALID } from './table-backend.ts'
import { APPLIED, aKey, type Key, refused, type TableCommands } from './table-commands.ts'

type Item = Record<string, unknown>

/** Queries of an index, by the values of its partition. */
const asking =
  ({ query }: TableCommands) =>
  (index: IndexName, partition: readonly unknown[], more: Partial<QueryInput> = {}) =>
    query({ index, partition, limit: 100, ...more })

const page = (items: readonly Item[], cursor?: Item) => ({ items, count: items.length, cursor })

const keyedBy = (item: Item, ...attributes: readonly string[]) =>
  Object.fromEntries(attributes.map((attribute) => [attribute, item[attribute]]))

/** A work of our own with an item due on each of the days. */
const prepareWork = async (commands: TableCommands) => {
  const work = randomUUID()
  const items: (Item & Key)[] = ['01', '02', '02', '03', '04'].map((day, at) => ({
    ...aKey(),
    work,
    slot: 7,
    dueAt: `2026-11-${day}`,
    id: `id-${at}`,
    other: 'not projected',
  }))
  for (const { pk, sk, ...item } of items.toReversed()) await commands.put({ pk, sk }, item)
  const entries = items.map((item) => keyedBy(item, 'pk', 'sk', 'work', 'slot', 'dueAt', 'id'))
  // A cursor keeps the table's spelling.
  return { work, items, entries, cursors: entries.map(toItem), ask: asking(commands) }
}

export const indexesConformance = (open: () => TableCommands): void => {
  describe('an index', () => {
    it('answers its keys and the table’s, sorted by both sort attributes', async () => {
      const { work, entries, ask } = await prepareWork(open())

      expect(await ask('by-due', [work, 7])).toStrictEqual(page(entries))
      expect(await ask('by-due', [work, 7], { newestFirst: true })).toStrictEqual(page(entries.toReversed()))
      expect(await ask('by-due', [work, 8])).toStrictEqual(page([]))
    })

    it.each<readonly [Range, readonly number[]]>([
      [{ atMost: '2026-11-02' }, [0, 1, 2]],
      [{ between: ['2026-11-02', '2026-11-03'] }, [1, 2, 3]],
      [{ between: ['2026-11-03', '2026-11-03'] }, [3]],
      [{ beginsWith: '2026-11-02' }, [1, 2]],
    ])('takes a range over the first sort attribute: %j', async (range, expected) => {
      const { work, entries, ask } = await prepareWork(open())

      const found = expected.map((at) => entries[at] ?? {})
      expect(await ask('by-due', [work, 7], { range })).toStrictEqual(page(found))
    })

    it('continues behind a cursor of all its keys', async () => {
      const { work, entries, cursors, ask } = await prepareWork(open())
      const from = (cursor: Item | undefined, newestFirst = false) =>
        ask('by-due', [work, 7], { limit: 2, newestFirst, ...(cursor && { cursor }) })

      expect(await from(undefined)).toStrictEqual(page(entries.slice(0, 2), cursors[1]))
      expect(await from(cursors[1])).toStrictEqual(page(entries.slice(2, 4), cursors[3]))
      expect(await from(cursors[3])).toStrictEqual(page(entries.slice(4)))
      expect(await from(cursors[2], true)).toStrictEqual(page([entries[1] ?? {}, entries[0] ?? {}], cursors[0]))
    })

    it('counts', async () => {
      const { work, cursors, ask } = await prepareWork(open())

      expect(await ask('by-due', [work, 7], { countOnly: true, limit: 3 })).toStrictEqual({
        items: [],
        count: 3,
        cursor: cursors[2],
      })
    })

    it('has the attributes that it includes, if the item has them', async () => {
      const commands = open()
      const [first, second] = [aKey(), aKey()]
      const clientId = randomUUID()
      const fee = { netMinor: 90, feeStatus: 'final' }
      await commands.put(first, { clientId, paidAt: 't1', id: 'a', ...fee, status: 'succeeded' })
      await commands.put(second, { clientId, paidAt: 't2', id: 'b' })

      expect(await asking(commands)('by-paid', [clientId])).toStrictEqual(
        page([
          { ...first, clientId, paidAt: 't1', id: 'a', ...fee },
          { ...second, clientId, paidAt: 't2', id: 'b' },
        ]),
      )
    })

    it('has an item only while it has every key attribute, under its present values', async () => {
      const commands = open()
      const { put, update, remove } = commands
      const key = aKey()
      const owner = randomUUID()
      const item = { owner, entity: 'payment', listedAt: 't', id: 'a' }
      const entry = { ...key, ...item }
      const listed = async (status: string) => {
        const answer = await asking(commands)('by-status', [owner, 'payment', status])
        return 'items' in answer ? answer.items : answer
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

    it('is not read without all its partition attributes, nor by values of another type', async () => {
      const { work, ask } = await prepareWork(open())

      expect(await ask('by-due', [work])).toStrictEqual({ error: INVALID })
      expect(await ask('by-due', [work, '7'])).toStrictEqual({ error: INVALID })
      expect(await ask('by-due', [work, undefined])).toStrictEqual({ error: INVALID })
      expect(await ask('by-due', [work, 7], { range: { atMost: 7 } })).toStrictEqual({ error: INVALID })
    })

    it('refuses a cursor that does not fit', async () => {
      const { work, cursors, ask } = await prepareWork(open())
      const from = (change: Item, range?: Range) =>
        ask('by-due', [work, 7], { ...(range && { range }), cursor: { ...cursors[1], ...change } })

      expect(await from({ slot: 8 })).toStrictEqual({ error: INVALID })
      expect(await from({ slot: '7' })).toStrictEqual({ error: INVALID })
      expect(await from({ id: '' })).toStrictEqual({ error: INVALID })
      expect(await from({ more: 1 })).toStrictEqual({ error: INVALID })
      expect(await from({ due_at: '2026-11-03' }, { atMost: '2026-11-02' })).toStrictEqual({ error: INVALID })
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

      expect(await update(key, { set }, exists)).toStrictEqual(refused())
      expect(await update(key, { set }, isNew)).toStrictEqual({ error: INVALID })
      expect(await get(key)).toBeUndefined()
    })

    it('may be as long as all of its kind together may be', async () => {
      const { put } = open()

      expect(await put(aKey(), { owner: 'x'.repeat(2_000), entity: 'x'.repeat(48) })).toStrictEqual(APPLIED)
      expect(await put(aKey(), { listed_at: 'x'.repeat(1_000), id: 'x'.repeat(24) })).toStrictEqual(APPLIED)
    })
  })
}
