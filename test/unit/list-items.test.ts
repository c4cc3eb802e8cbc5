import { describe, expect, it } from 'vitest'
import { pageOf } from '../../shared/page.ts'
import { isNew } from '../../shared/table/condition.ts'
import { pkPrefix } from '../../shared/table/keys.ts'
import { listItems } from '../../shared/table/list-items.ts'
import { put, update } from '../../shared/table/step.ts'
import { addMs, timestampOf } from '../../shared/time.ts'
import { interceptTable } from '../support/intercept-table.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

const START = timestampOf(Date.UTC(2026, 0, 1))

type Row = { readonly owner: string; readonly at: number; readonly id: string; readonly status?: string }

const keyOf = ({ owner, id }: Pick<Row, 'owner' | 'id'>) => ({ pk: `${pkPrefix('SUSPENSE')}${owner}#${id}`, sk: 'ROW' })

const store = async (deps: TestDeps, { owner, at, id, status = 'pending' }: Row) => {
  const item = { owner, entity: 'row', status, listedAt: addMs(START, at), id }
  await deps.table.write(put(keyOf({ owner, id }), item, isNew))
}

const storeMany = async (deps: TestDeps, owner: string, count: number) => {
  const ids = Array.from({ length: count }, (_, at) => String(at).padStart(4, '0'))
  await Promise.all(ids.map((id, at) => store(deps, { owner, at, id })))
  return ids.toReversed()
}

const byOwner = (owner: string, page: number, perPage: number) =>
  ({
    kind: 'SUSPENSE',
    index: 'by-owner',
    partition: [owner, 'row'],
    page: pageOf({ page, per_page: perPage }),
  }) as const

const idsOf = (items: readonly Readonly<Record<string, unknown>>[]) => items.map(({ id }) => id)

describe('listItems', () => {
  it('answers nothing for an owner that has nothing', async () => {
    const deps = testDeps()

    expect(await listItems(deps, byOwner(deps.newId(), 1, 25))).toStrictEqual([])
    expect(await listItems(deps, byOwner(deps.newId(), 7, 25))).toStrictEqual([])
  })

  it('answers each row once over all pages, newest first, and nothing past the end', async () => {
    const deps = testDeps()
    const owner = deps.newId()
    const newestFirst = await storeMany(deps, owner, 23)

    const pages = await Promise.all([1, 2, 3, 4, 1_000_000].map((page) => listItems(deps, byOwner(owner, page, 10))))

    expect(pages.map(idsOf)).toStrictEqual([
      newestFirst.slice(0, 10),
      newestFirst.slice(10, 20),
      newestFirst.slice(20),
      [],
      [],
    ])
  })

  it('answers an empty page behind a last one that is exactly full', async () => {
    const deps = testDeps()
    const owner = deps.newId()
    const newestFirst = await storeMany(deps, owner, 4)

    expect(idsOf(await listItems(deps, byOwner(owner, 2, 2)))).toStrictEqual(newestFirst.slice(2))
    expect(await listItems(deps, byOwner(owner, 3, 2))).toStrictEqual([])
  })

  it('orders rows of the same time by id, the greatest first', async () => {
    const deps = testDeps()
    const owner = deps.newId()
    for (const id of ['b', 'c', 'a']) await store(deps, { owner, at: 0, id })

    expect(idsOf(await listItems(deps, byOwner(owner, 1, 25)))).toStrictEqual(['c', 'b', 'a'])
  })

  it('answers whole items, read fresh, and only those of the partition asked for', async () => {
    const deps = testDeps()
    const [owner, other] = [deps.newId(), deps.newId()]
    await store(deps, { owner, at: 1, id: 'mine' })
    await store(deps, { owner: other, at: 2, id: 'theirs' })

    const items = await listItems(deps, byOwner(owner, 1, 25))

    expect(items).toStrictEqual([
      {
        ...keyOf({ owner, id: 'mine' }),
        owner,
        entity: 'row',
        status: 'pending',
        listedAt: addMs(START, 1),
        id: 'mine',
      },
    ])
  })

  it('reaches a page of 100 behind more keys than one query passes over', async () => {
    const deps = testDeps()
    const owner = deps.newId()
    const newestFirst = await storeMany(deps, owner, 230)
    // As if DynamoDB's 1 MB were 70 keys: its pages end where it likes, not where we ask.
    const short = interceptTable(deps, {
      asQuery: (query) => ({ ...query, limit: Math.min(query.limit, 70) }),
    })

    const items = await listItems(short, byOwner(owner, 2, 100))

    expect(idsOf(items)).toStrictEqual(newestFirst.slice(100, 200))
  })

  it('leaves out a row that the index still shows although it has moved on or is gone', async () => {
    const deps = testDeps()
    const owner = deps.newId()
    for (const [at, id] of ['stays', 'moves', 'goes'].entries()) await store(deps, { owner, at, id })
    // The two changes happen between the query and the batch read, which is what a lagging index looks like.
    const lagging = interceptTable(deps, {
      after: async ({ name }) => {
        if (name !== 'query') return
        await deps.table.write(update(keyOf({ owner, id: 'moves' }), { set: { status: 'succeeded' } }))
        await deps.table.write(update(keyOf({ owner, id: 'goes' }), { remove: ['owner'] }))
      },
    })

    const items = await listItems(lagging, {
      kind: 'SUSPENSE',
      index: 'by-status',
      partition: [owner, 'row', 'pending'],
      page: pageOf({ page: 1, per_page: 25 }),
    })

    expect(idsOf(items)).toStrictEqual(['stays'])
  })
})
