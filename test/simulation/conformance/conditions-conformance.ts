import { describe, expect, it } from 'vitest'
import {
  above,
  absent,
  all,
  any,
  atMost,
  below,
  type Condition,
  contains,
  differs,
  equals,
  exists,
  isNew,
  present,
} from '../../../shared/table/condition.ts'
import { INVALID } from './table-backend.ts'
import { APPLIED, aKey, refused, type TableCommands } from './table-commands.ts'

const ITEM = {
  text: 'b',
  amount: 5,
  flag: true,
  nothing: null,
  list: [1, 'a', { deep: true }],
  map: { a: 1, b: { c: [null] } },
  tags: new Set(['x', 'y']),
  numbers: new Set([1, 2]),
}

const HOLDING: readonly (readonly [string, Condition])[] = [
  ['equal texts', equals('text', 'b')],
  ['equal numbers', equals('amount', 5)],
  ['equal booleans', equals('flag', true)],
  ['equal nulls', equals('nothing', null)],
  ['equal lists', equals('list', [1, 'a', { deep: true }])],
  ['equal maps, in any order', equals('map', { b: { c: [null] }, a: 1 })],
  ['equal sets, in any order', equals('tags', new Set(['y', 'x']))],
  ['equal sets of numbers', equals('numbers', new Set([2, 1]))],
  ['a different text', differs('text', 'c')],
  ['a different type', differs('text', 5)],
  ['a missing attribute, which differs from everything', differs('missing', 'x')],
  ['a number below', below('amount', 6)],
  ['a number at most', atMost('amount', 5)],
  ['a number above', above('amount', -1)],
  ['a text below', below('text', 'ba')],
  ['a text at most', atMost('text', 'b')],
  ['a text above, upper case first', above('text', 'Z')],
  ['a present null', present('nothing')],
  ['an absent attribute', absent('missing')],
  ['a text within', contains('text', 'b')],
  ['an empty text within', contains('text', '')],
  ['a member of a set', contains('tags', 'x')],
  ['a member of a set of numbers', contains('numbers', 2)],
  ['an element of a list', contains('list', 'a')],
  ['a map as an element of a list', contains('list', { deep: true })],
  ['both of two', all(equals('text', 'b'), equals('amount', 5))],
  ['the second of two', any(equals('text', 'c'), equals('amount', 5))],
  ['any within all', all(exists, any(equals('text', 'c'), below('amount', 6)))],
  ['all within any', any(isNew, all(exists, present('tags')))],
  ['one of one, of one', all(any(exists))],
  ['one of one beside another', any(isNew, all(all(exists)))],
]

const FAILING: readonly (readonly [string, Condition])[] = [
  ['another text', equals('text', 'B')],
  ['a number as text', equals('amount', '5')],
  ['a missing attribute, which equals nothing', equals('missing', null)],
  ['lists in another order', equals('list', ['a', 1, { deep: true }])],
  ['a smaller set', equals('tags', new Set(['x']))],
  ['a list for a set', equals('tags', ['x', 'y'])],
  ['a map with one more name', equals('map', { a: 1, b: { c: [null] }, d: 1 })],
  ['a map with one name fewer', equals('map', { a: 1 })],
  ['the same text', differs('text', 'b')],
  ['the same set', differs('tags', new Set(['y', 'x']))],
  ['a missing attribute, which is not below', below('missing', 'x')],
  ['a missing attribute, which is not at most', atMost('missing', 'x')],
  ['a missing attribute, which is not above', above('missing', '')],
  ['a number below itself', below('amount', 5)],
  ['a number above itself', above('amount', 5)],
  ['a number at most a smaller one', atMost('amount', 4)],
  ['a text below a number', below('text', 9)],
  ['a number above a text', above('amount', 'a')],
  ['a null at most a text', atMost('nothing', 'a')],
  ['a text not within', contains('text', 'bb')],
  ['a number within a text', contains('text', 5)],
  ['no member of a set', contains('tags', 'z')],
  ['a set within a set', contains('tags', new Set(['x']))],
  ['a name of a map', contains('map', 'a')],
  ['a boolean within a boolean', contains('flag', true)],
  ['anything within a missing attribute', contains('missing', 'a')],
  ['a present attribute', absent('flag')],
  ['a missing attribute', present('missing')],
  ['one of two', all(equals('text', 'b'), equals('amount', 6))],
  ['neither of two', any(equals('text', 'c'), equals('amount', 6))],
]

export const conditionsConformance = (open: () => TableCommands): void => {
  describe('a condition', () => {
    it.each(HOLDING)('lets a write through: %s', async (_, condition) => {
      const { put, remove } = open()
      const key = aKey()
      await put(key, ITEM)

      expect(await remove(key, condition)).toStrictEqual(APPLIED)
    })

    it.each(FAILING)('refuses a write and brings back the item: %s', async (_, condition) => {
      const { put, remove, get } = open()
      const key = aKey()
      await put(key, ITEM)

      expect(await remove(key, condition)).toStrictEqual(refused({ ...ITEM, ...key }))
      expect(await get(key)).toStrictEqual({ ...ITEM, ...key })
    })

    it('sees an item without attributes where there is none, and brings back nothing', async () => {
      const { put, remove, update } = open()
      const key = aKey()

      expect(await update(key, { set: { a: 1 } }, exists)).toStrictEqual(refused())
      expect(await remove(key, equals('a', 1))).toStrictEqual(refused())
      expect(await remove(key, differs('a', 1))).toStrictEqual(APPLIED)
      expect(await put(key, {}, isNew)).toStrictEqual(APPLIED)
      expect(await put(key, {}, isNew)).toStrictEqual(refused(key))
    })

    it.each<readonly [string, Condition]>([
      ['an order for booleans', below('flag', true)],
      ['an order for sets', above('tags', new Set(['x']))],
      ['an order for nulls', atMost('nothing', null)],
      ['nothing to be all of', all()],
      ['nothing to be any of', all(exists, any())],
      ['a value that is undefined', equals('text', undefined)],
    ])('is invalid whatever is stored: %s', async (_, condition) => {
      const { put, remove } = open()
      const key = aKey()
      await put(key, ITEM)

      expect(await remove(key, condition)).toStrictEqual({ error: INVALID })
    })
  })
}
