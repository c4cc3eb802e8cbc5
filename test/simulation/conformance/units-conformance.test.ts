import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'
import { exists, guard, put, remove, type Step, update } from '../../../shared/table/step.ts'
import { usedUnits, withCountedUnits } from '../../../shared/table/used-units.ts'
import { describeOnDynamoDb } from '../../support/dynamodb.ts'
import { bothTables } from './on-both.ts'

const pk = `units-${randomUUID()}`
const key = { pk, sk: 'a' }
const listed = { owner: pk, entity: 'units', listedAt: 'now', id: pk }
const page = { index: 'by-owner', partition: [pk, 'units'], limit: 10 } as const

function write(step: Step) {
  return (table: TableRequests) => table.write(step)
}
function long(letter: string) {
  return { note: letter.repeat(4_500) }
}

const SINGLE: readonly (readonly [string, number, (table: TableRequests) => Promise<unknown>])[] = [
  ['a small item', 1, write(put({ pk, sk: 'b' }, { note: 'short' }))],
  ['an item of five kilobytes in an index', 6, write(put(key, { ...listed, ...long('x') }))],
  ['a change that its index does not see', 5, write(update(key, { set: long('y') }))],
  ['a change of its place in the index', 7, write(update(key, { set: { listedAt: 'then' } }))],
  ['an item that is read', 2, (table) => table.get(key)],
  ['two items that are read together', 3, (table) => table.batchGet([key, { pk, sk: 'b' }])],
  [
    'two items that are read together, eventually',
    1.5,
    (table) => table.batchGet([key, { pk, sk: 'b' }], 'eventual'),
  ],
  [
    'the same items, of which some fields are read: they cost as much',
    3,
    (table) => table.batchGet([key, { pk, sk: 'b' }], 'consistent', ['pk', 'sk']),
  ],
  ['a page of the table', 2, (table) => table.query({ partition: [pk], limit: 10 })],
  ['a page of an index', 0.5, (table) => table.query(page)],
  ['a count of an index', 0.5, (table) => table.query({ ...page, countOnly: true })],
  [
    'fields of an item, eventually',
    1,
    (table) => table.get(key, { fields: ['note'], consistent: false }),
  ],
  [
    'a change that is refused: the error names no units',
    0,
    write(update({ pk, sk: 'none' }, { set: { a: 1 } }, exists)),
  ],
  ['the removal of an item with its entry', 6, write(remove(key, exists))],
]

async function usedByEach(table: TableRequests) {
  const used: (readonly [string, number])[] = []
  for (const [name, , run] of SINGLE) {
    await withCountedUnits(async () => {
      await run(table)
      used.push([name, usedUnits()])
    })
  }
  return used
}

const PUBLISHED = SINGLE.map(([name, units]) => [name, units])

const describe = await describeOnDynamoDb()

describe('the units of a request', () => {
  it('are the published units, as both tables report them', async () => {
    const { local, model } = bothTables()

    expect(await usedByEach(local)).toStrictEqual(PUBLISHED)
    expect(await usedByEach(model)).toStrictEqual(PUBLISHED)
  })

  it('are two for each step of a transaction, and none if it is refused', async () => {
    const { local, model } = bothTables()
    const steps = [put({ pk, sk: 'x' }, listed), put({ pk, sk: 'y' }, {})]
    const refused = [...steps, guard({ pk, sk: 'none' }, exists)]
    const used = (table: TableRequests, some: readonly Step[]) =>
      withCountedUnits(async () => {
        await table.transact(some)
        return usedUnits()
      })

    expect([await used(local, steps), await used(model, steps)]).toStrictEqual([6, 6])
    expect([await used(local, refused), await used(model, refused)]).toStrictEqual([0, 0])
  })
})
