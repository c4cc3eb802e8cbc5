import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { exists, isNew } from '../../../shared/table/condition.ts'
import { INVALID } from './table-backend.ts'
import { APPLIED, aKey, type Key, refused, type TableCommands } from './table-commands.ts'

const MAX_ITEM_BYTES = 400 * 1_024

/** An item of exactly so many bytes. */
const itemOfSize = (bytes: number) => {
  const key = aKey()
  const names = Buffer.byteLength('pkskdata')
  return { key, item: { data: 'x'.repeat(bytes - names - Buffer.byteLength(key.pk + key.sk)) } }
}

export const valuesConformance = (open: () => TableCommands): void => {
  describe('values', () => {
    it.each([
      ['texts', { a: '', b: 'é', c: '😀', d: 'line\nbreak "quoted"' }],
      ['half of a surrogate pair', { a: 'x\ud800y' }],
      ['numbers', { a: 0, b: -1, c: 1.5, d: 1e-7, e: Number.MAX_SAFE_INTEGER, f: Number.MIN_SAFE_INTEGER, g: 1_200 }],
      ['booleans and null', { a: true, b: false, c: null }],
      ['empty containers', { a: [], b: {}, c: [[], {}] }],
      ['nested containers', { a: { b: [{ c: [1, null, 'x', new Set(['in'])] }] } }],
      ['sets', { a: new Set(['x', 'y']), b: new Set([1, -1, 0.5]) }],
    ])('come back as they went in: %s', async (_, item) => {
      const { put, get } = open()
      const key = aKey()

      expect(await put(key, item)).toStrictEqual(APPLIED)
      expect(await get(key)).toStrictEqual({ ...item, ...key })
    })

    it('loses what the client leaves out: undefined, functions and the minus of zero', async () => {
      const { put, get } = open()
      const key = aKey()
      const item = { a: [1, undefined, 2], b: { c: undefined, d: 1 }, e: -0, f: new Set(['x', undefined]), g: () => 1 }

      await put(key, item)

      expect(await get(key)).toStrictEqual({ a: [1, 2], b: { d: 1 }, e: 0, f: new Set(['x']), ...key })
    })

    it.each([
      ['an empty set', new Set()],
      ['a set of objects', new Set([{}])],
      ['no number', Number.NaN],
      ['an unsafe number', 2 ** 53],
      ['an unsafe negative number', -(2 ** 53)],
      ['an instance of a class', new Date(0)],
    ])('are refused by the client: %s', async (_, value) => {
      const { put, get } = open()
      const key = aKey()
      const outcome = await put(key, { value })

      expect(outcome).toStrictEqual({ error: expect.stringMatching(/^(Type)?Error$/) })
      expect(await get(key)).toBeUndefined()
    })

    it.each([
      ['of the item', { '': 1 }],
      ['inside of a value', { map: [{ '': 1 }] }],
    ])('are invalid with an empty name %s', async (_, item) => {
      const { put, update } = open()

      expect(await put(aKey(), item)).toStrictEqual({ error: INVALID })
      expect(await update(aKey(), { set: { value: [item] } })).toStrictEqual({ error: INVALID })
    })

    it('share nothing with those of the caller, on either way', async () => {
      const { put, get, update } = open()
      const key = aKey()
      const inner = { c: 1 }
      const item = { list: [1], tags: new Set(['x']), map: { a: { b: 1 } }, inners: [inner] }
      await put(key, item)
      item.list.push(2)
      inner.c = 2
      item.tags.add('y')
      item.map.a.b = 2

      const read = (await get(key)) as typeof item
      read.list.push(3)
      read.map.a.b = 3
      await update(key, { add: { tags: new Set(['z']) } })

      expect(read.tags).toStrictEqual(new Set(['x']))
      expect(await get(key)).toStrictEqual({
        list: [1],
        tags: new Set(['x', 'z']),
        map: { a: { b: 1 } },
        inners: [{ c: 1 }],
        ...key,
      })
    })
  })

  describe('the size of an item', () => {
    it('is 400 KB at most', async () => {
      const { put, get } = open()
      const fits = itemOfSize(MAX_ITEM_BYTES)
      const big = itemOfSize(MAX_ITEM_BYTES + 1)

      expect(await put(fits.key, fits.item)).toStrictEqual(APPLIED)
      expect(await put(big.key, big.item)).toStrictEqual({ error: INVALID })
      expect(await get(big.key)).toBeUndefined()
    })

    it('is checked of a put before its condition, and of an update after it', async () => {
      const { put, update } = open()
      const { key, item } = itemOfSize(MAX_ITEM_BYTES)
      await put(key, item)
      const tooBig = { data: 'x'.repeat(MAX_ITEM_BYTES) }

      expect(await put(key, tooBig, isNew)).toStrictEqual({ error: INVALID })
      expect(await update(key, { set: { more: 'x' } }, exists)).toStrictEqual({ error: INVALID })
      expect(await update(key, { set: { more: 'x' } }, isNew)).toStrictEqual(refused({ ...item, ...key }))
    })
  })

  describe('a key', () => {
    it.each([
      ['an empty partition key', { pk: '', sk: 'a' }],
      ['an empty sort key', { pk: 'a', sk: '' }],
      ['a number', { pk: 1, sk: 'a' }],
      ['a part of it', { pk: 'a' }],
      ['a long partition key', { pk: 'x'.repeat(2_049), sk: 'a' }],
      ['a long sort key', { pk: 'a', sk: 'x'.repeat(1_025) }],
      ['a null', { pk: 'a', sk: null }],
    ])('is invalid: %s', async (_, wrong) => {
      const { put, update, remove, get, batchGet } = open()
      const key = wrong as Key

      expect(await put(key, {})).toStrictEqual({ error: INVALID })
      expect(await update(key, { set: { a: 1 } })).toStrictEqual({ error: INVALID })
      expect(await remove(key, exists)).toStrictEqual({ error: INVALID })
      expect(await get(key)).toStrictEqual({ error: INVALID })
      expect(await batchGet([key])).toStrictEqual({ error: INVALID })
    })

    it('is no longer than it may be, in bytes', async () => {
      const { put, get } = open()
      const unique = randomUUID()
      const key = { pk: unique + 'é'.repeat((2_048 - unique.length) / 2), sk: 'é'.repeat(512) }

      expect(await put(key, {})).toStrictEqual(APPLIED)
      expect(await get(key)).toStrictEqual(key)
      expect(await get({ ...key, sk: `${key.sk}x` })).toStrictEqual({ error: INVALID })
    })

    it('is nothing more when reading', async () => {
      const { get } = open()

      const more = { ...aKey(), more: 1 }

      expect(await get(more)).toStrictEqual({ error: INVALID })
    })
  })
}
