/**
 * Goal: this tree reads what every release since v1.0.0 has stored (docs/reliability.md). Method:
 * before a release is tagged, `npm run shapes -- --write` keeps an item of every shape that it
 * stores, with what it read of the item. Each later tree reads the kept items again. No release is
 * tagged yet, so no file is kept. A sample of this tree's own shapes takes the same way: kept,
 * parsed, read.
 */
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { expect, it } from 'vitest'
import {
  collectShapes,
  createShapes,
  type Kept,
  keptByTags,
  keptIn,
  readToday,
  textOf,
} from './kept-shapes.ts'

/** Fields that are new since then are allowed. */
function expectRead(kept: readonly Kept[]) {
  expect(kept.map(({ item }) => readToday(item))).toMatchObject(kept.map(({ read }) => read))
}

it('items that releases stored are read as those releases read them', () => {
  expectRead(keptByTags())
})

it('this tree can read its own items, and an item that is read differently or not at all fails', async () => {
  const sample = await collectShapes([3])

  const kept = keptIn(textOf(sample))

  expect(kept).toHaveLength(sample.length)
  expectRead(kept)
  const read = { id: 'another' }
  expect(() =>
    expectRead([{ item: { pk: { S: 'CLIENT#1' }, sk: { S: 'CLIENT' } }, read }]),
  ).toThrow('Invalid')
  expect(() => expectRead(kept.map(({ item }) => ({ item, read })))).toThrow('another')
})

it('an item is kept for each shape, each status, and each new attribute or type inside another', () => {
  const { note, kept } = createShapes()
  const item = (status: string, sum: object) => ({
    pk: 'SETTLEMENT#1',
    sk: 'SETTLEMENT',
    status,
    sum,
  })
  const [recorded, failed] = [item('recorded', { a: 1 }), item('failed', { a: 1 })]
  const [otherType, otherField] = [item('recorded', { a: '1' }), item('failed', { b: 1 })]

  for (const one of [recorded, item('recorded', { a: 2 }), otherType, failed, otherField]) note(one)

  expect(kept.map((raw) => unmarshall(raw))).toStrictEqual([
    recorded,
    otherType,
    failed,
    otherField,
  ])
})
