import { describe, expect, it } from 'vitest'
import { pageOf } from '../../shared/page.ts'
import { isNew } from '../../shared/table/condition.ts'
import { foundKey, PARTITIONS, pkPrefix } from '../../shared/table/keys.ts'
import { listItems } from '../../shared/table/list-items.ts'
import { put, update } from '../../shared/table/step.ts'
import { addMs, timestampOf } from '../../shared/time.ts'
import { interceptTable } from '../support/intercept-table.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

/** An owner with rows of these ids, each a millisecond older than the one before it. */
const anOwner = async (ids: readonly string[] = []) => {
  const deps = testDeps()
  const owner = deps.newId()
  const START = timestampOf(Date.UTC(2026, 0, 1))
  const keyOf = (id = '') => ({ pk: `${pkPrefix('SUSPENSE')}${owner}#${id}`, sk: 'ROW' })
  const rows = ids.map((id, at) => ({ owner, entity: 'row', status: 'pending', listedAt: addMs(START, -at), id }))
  await Promise.all(rows.map((row) => deps.table.write(put(keyOf(row.id), row, isNew))))
  return {
    deps,
    keyOf,
    rows: rows.map((row) => ({ ...keyOf(row.id), ...row })),
    list: (page: number, perPage: number, from: TestDeps = deps, status?: string) =>
      listItems(from, {
        kind: 'SUSPENSE',
        page: pageOf({ page, per_page: perPage }),
        ...(status === undefined
          ? { index: 'by-owner', partition: [owner, 'row'] }
          : { index: 'by-status', partition: [owner, 'row', status] }),
      }),
  }
}

const ids = (count: number) => Array.from({ length: count }, (_, at) => String(at))

describe('listItems', () => {
  it('answers each row of an owner once and whole over all pages, newest first, and nothing past the end', async () => {
    const [{ rows, list }] = [await anOwner(ids(4)), await anOwner(['another'])]

    expect(await Promise.all([1, 2, 3, 1_000_000].map((page) => list(page, 2)))).toStrictEqual([
      rows.slice(0, 2),
      rows.slice(2),
      [],
      [],
    ])
  })

  it('reaches a page of 100 behind more keys than one query passes over', async () => {
    const { deps, rows, list } = await anOwner(ids(230))
    // As if DynamoDB's 1 MB were 70 keys: its pages end where it likes, not where we ask.
    const short = interceptTable(deps, { asQuery: (query) => ({ ...query, limit: Math.min(query.limit, 70) }) })

    expect(await list(2, 100, short)).toStrictEqual(rows.slice(100, 200))
  })

  it('leaves out a row that the index still shows although it has moved on or is gone', async () => {
    const { deps, keyOf, rows, list } = await anOwner(['stays', 'moves', 'goes'])
    // The two changes happen between the query and the batch read, which is what a lagging index looks like.
    const lagging = interceptTable(deps, {
      after: async ({ name }) => {
        if (name !== 'query') return
        await deps.table.write(update(keyOf('moves'), { set: { status: 'succeeded' } }))
        await deps.table.write(update(keyOf('goes'), { remove: ['owner'] }))
      },
    })

    expect(await list(1, 25, lagging, 'pending')).toStrictEqual(rows.slice(0, 1))
  })
})

it('kinds of partitions cannot be taken for one another: no prefix begins with another', () => {
  const clashes = PARTITIONS.flatMap((one) =>
    PARTITIONS.filter((other) => other !== one && pkPrefix(one).startsWith(pkPrefix(other))),
  )

  expect(clashes).toStrictEqual([])
})

it.each([
  { pk: 'CLIENT#1', sk: 'CLIENT' },
  { pk: 'PAYMENTS#1', sk: 'PAYMENT' },
  { pk: 'PAYMENT#1' },
  { sk: 'PAYMENT' },
  {},
])('foundKey refuses %j where a payment is looked for', (row) => {
  expect(() => foundKey('PAYMENT', row)).toThrow('not of PAYMENT')
})
