import { describe, expect, it } from 'vitest'
import { equals, exists } from '../../../shared/table/condition.ts'
import type { Changes } from '../../../shared/table/step.ts'
import { INVALID } from './table-backend.ts'
import { APPLIED, aKey, refused, type TableCommands } from './table-commands.ts'

const ITEM = {
  amount: 5,
  text: 'b',
  nothing: null,
  tags: new Set(['x', 'y']),
  numbers: new Set([1]),
  list: [1],
  flag: true,
}

const CHANGES: readonly (readonly [string, Changes, Record<string, unknown>])[] = [
  ['sets a new attribute', { set: { made: { a: [1, null] } } }, { ...ITEM, made: { a: [1, null] } }],
  ['sets another type', { set: { amount: 'five' } }, { ...ITEM, amount: 'five' }],
  ['sets what was there', { set: { amount: 5 } }, ITEM],
  ['leaves undefined out of a map', { set: { text: { a: undefined, b: 1 } } }, { ...ITEM, text: { b: 1 } }],
  ['sets if absent', { setIfAbsent: { made: 1, amount: 6, nothing: 7 } }, { ...ITEM, made: 1 }],
  ['adds to a number', { add: { amount: -7 } }, { ...ITEM, amount: -2 }],
  ['adds to a missing number', { add: { made: 3 } }, { ...ITEM, made: 3 }],
  ['adds zero to a missing number', { add: { made: 0 } }, { ...ITEM, made: 0 }],
  ['adds to a set', { add: { tags: new Set(['y', 'z']) } }, { ...ITEM, tags: new Set(['x', 'y', 'z']) }],
  ['adds to a missing set', { add: { made: new Set(['z']) } }, { ...ITEM, made: new Set(['z']) }],
  ['takes from a set', { deleteFromSet: { tags: new Set(['y', 'z']) } }, { ...ITEM, tags: new Set(['x']) }],
  ['takes what is not in a set', { deleteFromSet: { tags: new Set(['z']) } }, ITEM],
  ['takes from a missing set', { deleteFromSet: { made: new Set(['z']) } }, ITEM],
  ['takes the last member, and the set with it', { deleteFromSet: { tags: new Set(['y', 'x']) } }, omit('tags')],
  ['removes', { remove: ['text', 'missing'] }, omit('text')],
  [
    'does all of it at once',
    {
      set: { text: 'c' },
      setIfAbsent: { made: 1 },
      add: { amount: 1 },
      deleteFromSet: { tags: new Set(['x']) },
      remove: ['flag'],
    },
    { ...omit('flag'), text: 'c', made: 1, amount: 6, tags: new Set(['y']) },
  ],
]

function omit(name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(ITEM).filter(([other]) => other !== name))
}

const INVALID_CHANGES: readonly (readonly [string, Changes])[] = [
  ['a number added to a text', { add: { text: 1 } }],
  ['a number added to a set', { add: { tags: 1 } }],
  ['a number added to a boolean', { add: { flag: 1 } }],
  ['a set added to a number', { add: { amount: new Set(['a']) } }],
  ['a set added to a set of another type', { add: { numbers: new Set(['a']) } }],
  ['a number taken from a set', { deleteFromSet: { tags: 1 as never } }],
  ['a text added to a text', { add: { text: 'x' as never } }],
  ['a set taken from a text', { deleteFromSet: { text: new Set(['a']) } }],
  ['a set taken from a list', { deleteFromSet: { list: new Set(['a']) } }],
  ['a set taken from a set of another type', { deleteFromSet: { numbers: new Set(['1']) } }],
  ['two changes to one attribute', { set: { amount: 1 }, remove: ['amount'] }],
  ['one attribute set and added to', { set: { amount: 1 }, add: { amount: 1 } }],
  ['the partition key set', { set: { pk: 'x' } }],
  ['the sort key removed', { remove: ['sk'] }],
  ['nothing at all', {}],
  ['nothing that is defined', { set: { text: undefined } }],
  ['one attribute under both of its names', { set: { dueAt: 't', due_at: 't' } }],
]

export const updatesConformance = (open: () => TableCommands): void => {
  describe('an update', () => {
    it.each(CHANGES)('%s and answers the item as it is now', async (_, changes, expected) => {
      const { put, update, get } = open()
      const key = aKey()
      await put(key, ITEM)

      expect(await update(key, changes, exists)).toStrictEqual({ applied: true, item: { ...expected, ...key } })
      expect(await get(key)).toStrictEqual({ ...expected, ...key })
    })

    it.each(INVALID_CHANGES)('is invalid and writes nothing: %s', async (_, changes) => {
      const { put, update, get } = open()
      const key = aKey()
      await put(key, ITEM)

      expect(await update(key, changes)).toStrictEqual({ error: INVALID })
      expect(await get(key)).toStrictEqual({ ...ITEM, ...key })
    })

    it.each<readonly [string, Changes, Record<string, unknown>]>([
      ['sets', { set: { a: 1 } }, { a: 1 }],
      ['adds', { add: { a: 1 } }, { a: 1 }],
      ['removes', { remove: ['a'] }, {}],
      ['takes from a set', { deleteFromSet: { a: new Set(['x']) } }, {}],
    ])('makes the item where there is none: %s', async (_, changes, expected) => {
      const { update, get } = open()
      const key = aKey()

      expect(await update(key, changes)).toStrictEqual({ applied: true, item: { ...expected, ...key } })
      expect(await get(key)).toStrictEqual({ ...expected, ...key })
    })

    it('is decided by its condition before it is found impossible for the item', async () => {
      const { put, update } = open()
      const key = aKey()
      await put(key, { text: 'b' })

      expect(await update(key, { add: { text: 1 } }, equals('text', 'c'))).toStrictEqual(refused({ text: 'b', ...key }))
    })
  })

  describe('a put', () => {
    it('replaces the whole item', async () => {
      const { put, get } = open()
      const key = aKey()
      await put(key, ITEM)

      expect(await put(key, { other: 1 })).toStrictEqual(APPLIED)
      expect(await get(key)).toStrictEqual({ other: 1, ...key })
    })
  })

  describe('a delete', () => {
    it('succeeds once', async () => {
      const { put, remove, get } = open()
      const key = aKey()
      await put(key, ITEM)

      expect(await remove(key, exists)).toStrictEqual(APPLIED)
      expect(await get(key)).toBeUndefined()
      expect(await remove(key, exists)).toStrictEqual(refused())
    })
  })
}
