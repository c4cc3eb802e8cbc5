/**
 * Goal: this tree reads what every release since v1.0.0 has stored (docs/reliability.md).
 * Method: before a release is tagged, `npm run shapes -- --write` keeps an item of every shape that it stores, with what
 * it read of the item. Each later tree reads the kept items again. No release is tagged yet, so no file is kept. A sample
 * of this tree's own shapes takes the same way: kept, parsed, read.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { tempDirectory } from '../support/temp-directory.ts'
import { collectShapes } from './collect-shapes.ts'
import {
  createShapes,
  type Kept,
  keep,
  keptTags,
  kindOf,
  rawItem,
  readKept,
  readToday,
  WRITTEN_BY,
} from './kept-shapes.ts'
import { READERS, UNREAD } from './readers.ts'

const TAGS = keptTags(WRITTEN_BY)

/** Fields that are new since then are allowed. */
const expectRead = async (kept: readonly Kept[]): Promise<void> => {
  const answers = await Promise.all(kept.map(({ item }) => readToday(item)))
  expect(answers).toMatchObject(kept.map(({ read }) => read))
}

let sample: readonly Kept[]

beforeAll(async () => {
  sample = await collectShapes()
})

describe('items that a release stored', () => {
  it(`are read as that release read them: ${TAGS.join(', ') || 'no release is tagged yet'}`, async () => {
    for (const tag of TAGS) await expectRead(readKept(WRITTEN_BY, tag))
  })

  it('would be read if this tree were tagged now', async () => {
    const directory = tempDirectory()

    keep(directory, 'v9.0.0', sample)

    expect(keptTags(directory)).toStrictEqual(['v9.0.0'])
    expect(readKept(directory, 'v9.0.0')).toHaveLength(sample.length)
    await expectRead(readKept(directory, 'v9.0.0'))
  })

  it.each<[string, Partial<Kept>]>([
    ['was stored with an attribute that this tree cannot parse', { item: rawItem({ pk: 'CLIENT#1', sk: 'CLIENT' }) }],
    ['was read otherwise', { read: { name: 'another' } }],
  ])('fail the check if one %s', async (_, change) => {
    const client = sample.find(({ item }) => kindOf(item) === 'CLIENT')
    if (!client) throw new Error('no client in the sample')

    await expect(expectRead([{ ...client, ...change }])).rejects.toThrow()
  })

  it('keep their file: a second one for the same tag is refused', () => {
    const directory = tempDirectory()
    keep(directory, 'v9.0.0', sample)

    expect(() => keep(directory, 'v9.0.0', [])).toThrow('EEXIST')
  })
})

describe('the shapes that this tree stores', () => {
  it('are each read, or listed as what no flow reads', () => {
    expect(sample.filter(({ item, read }) => (read === undefined) !== UNREAD.includes(kindOf(item)))).toStrictEqual([])
  })

  it('are of every kind that has a reader', () => {
    const kinds = new Set(sample.map(({ item }) => kindOf(item)))

    expect(Object.keys(READERS).filter((kind) => !kinds.has(kind))).toStrictEqual([])
  })
})

it('an item is kept for each shape, each status, and each new attribute or type inside another', () => {
  const { note, kept } = createShapes()
  const key = { pk: 'SETTLEMENT#1', sk: 'SETTLEMENT' }
  const items = [
    { ...key, status: 'recorded', sum: { a: 1 } },
    { ...key, status: 'recorded', sum: { a: 2 } },
    { ...key, status: 'recorded', sum: { a: '1' } },
    { ...key, status: 'failed', sum: { a: 1 } },
    { ...key, status: 'failed', sum: { b: 1 } },
  ]

  items.forEach(note)

  expect(kept).toStrictEqual([items[0], items[2], items[3], items[4]].map((item) => rawItem(item ?? {})))
})
