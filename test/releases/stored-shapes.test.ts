/**
 * Goal: what a release has stored is read by every later one, and stored shapes only grow (docs/reliability.md).
 * Method: an item of every shape that a release wrote is kept in a file (`npm run shapes`), with what was read of it
 * then. This release reads each of them again; and what it writes now, in the same flows, has every attribute that was
 * kept, with its type.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { loadFunctions } from '../simulation/world/handlers.ts'
import { collectShapes } from './collect-shapes.ts'
import { keptReleases, NEXT, readFixture, readToday } from './fixture.ts'
import { GONE } from './gone.ts'
import { READERS, UNREAD } from './readers.ts'
import { attributesOf, createShapes, kindOf, type RawItem, rawItem } from './stored-shape.ts'

const RELEASES = keptReleases()

const attributesIn = (items: readonly RawItem[]): ReadonlySet<string> => new Set(items.flatMap(attributesOf))
const without = (some: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] =>
  [...some].filter((one) => !others.has(one)).toSorted((a, b) => a.localeCompare(b))

let today: ReadonlySet<string>

beforeAll(async () => {
  today = attributesIn(await collectShapes({ functions: await loadFunctions(), isFormer: false }))
})

describe.each(RELEASES)('items that %s wrote', (release) => {
  const kept = readFixture(release)

  it('are read as they were when they were kept', async () => {
    const answers = await Promise.all(kept.map(async ({ item }) => readToday(item)))

    expect(answers).toStrictEqual(kept.map(({ read }) => read))
  })

  it('are each read, or listed as what nobody reads', () => {
    expect(kept.filter(({ item, read }) => (read === undefined) !== UNREAD.includes(kindOf(item)))).toStrictEqual([])
  })

  it('have no attribute that is no longer written with its type, unless a reason is listed', () => {
    const missing = without(attributesIn(kept.map(({ item }) => item)), today)

    expect(missing.filter((one) => GONE[one] === undefined)).toStrictEqual([])
  })
})

describe('the items that are kept', () => {
  it('have every attribute that this tree writes: npm run shapes -- --write keeps new ones', () => {
    expect(without(today, attributesIn(readFixture(NEXT).map(({ item }) => item)))).toStrictEqual([])
  })

  it('are of every kind that is read', () => {
    const kinds = new Set(RELEASES.flatMap((release) => readFixture(release).map(({ kind }) => kind)))

    expect(Object.keys(READERS).filter((kind) => !kinds.has(kind))).toStrictEqual([])
  })

  it('name nothing as gone that is written', () => {
    expect(Object.keys(GONE).filter((one) => today.has(one))).toStrictEqual([])
  })
})

describe('attributesOf', () => {
  it('tells a change of type, at any depth, from what stayed', () => {
    const key = { pk: 'CLIENT#1', sk: 'CLIENT' }
    const before = attributesOf(rawItem({ ...key, bank: { no: '1' }, on: true }))
    const after = attributesOf(rawItem({ ...key, bank: { no: 1 }, on: true }))

    expect(without(new Set(before), new Set(after))).toStrictEqual(['CLIENT bank.no: S'])
  })
})

describe('createShapes', () => {
  it('keeps the first of each shape, each status, and each with an attribute inside of another that is new', () => {
    const { note, kept } = createShapes()
    const key = { pk: 'SETTLEMENT#1', sk: 'SETTLEMENT' }
    const items = [
      { ...key, status: 'recorded', sum: { a: 1 } },
      { ...key, status: 'recorded', sum: { a: 2 } },
      { ...key, status: 'failed', sum: { a: 1 } },
      { ...key, status: 'failed', sum: { b: 1 } },
    ]

    items.forEach(note)

    expect(kept).toStrictEqual([items[0], items[2], items[3]].map((item) => rawItem(item ?? {})))
  })
})
