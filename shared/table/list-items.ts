import type { TableDeps } from '../deps.ts'
import { firstOfPage, type Page } from '../page.ts'
import { fieldName, type Item } from './attributes.ts'
import { type Key, type Partition, rowKeysOf } from './keys.ts'
import { type IndexName, TABLE_SCHEMA } from './schema.ts'
import type { QueryInput, QueryPage, Reads } from './table.ts'
import { reserveUnits, usedUnits } from './used-units.ts'

export type ListPage = Page & Pick<QueryInput, 'range'>

type ListInput = Pick<QueryInput, 'partition'> & {
  readonly index: IndexName
  readonly kind: Partition
  readonly page: ListPage
  /** Eventual if the list is only shown and decides nothing. */
  readonly reads?: Reads
}

/** Of one query. A deep page ends later. */
const MAX_KEYS = 1_000

/**
 * Newest first, without rows that no longer match. The keys before a deep page are only counted,
 * which is faster.
 */
export async function listItems(
  deps: TableDeps,
  { index, kind, partition, page, reads }: ListInput,
) {
  const list = { index, partition, range: page.range, newestFirst: true }
  const first = firstOfPage(page)
  let before = first + page.perPage > MAX_KEYS ? first : 0
  const start = first - before
  const end = start + page.perPage
  let cursor: Item | undefined
  while (before > 0) {
    const limit = Math.min(before, MAX_KEYS)
    const counted = await deps.table.query({ ...list, limit, cursor, countOnly: true })
    cursor = counted.cursor
    if (!cursor) return []
    before -= counted.count
    await reserveUnits(UNITS_A_KEY * limit)
  }
  const keys: Key[] = []
  for await (const { items } of queryPages(deps, { ...list, limit: end, cursor })) {
    keys.push(...rowKeysOf(kind, items))
    if (keys.length >= end) break
  }
  const fields = TABLE_SCHEMA.indexes[index].partition.map(fieldName)
  return (await readMany(deps, keys.slice(start, end), reads)).filter(
    (item): item is Item =>
      item !== undefined && fields.every((field, at) => item[field] === partition[at]),
  )
}

/** An index entry is read eventually: 8 KB a unit. */
export const UNITS_A_KEY = 0.023

const SAMPLE = 20

export async function readMany(deps: TableDeps, keys: readonly Key[], reads?: Reads) {
  const before = usedUnits()
  const items = await deps.table.getMany(keys.slice(0, SAMPLE), reads)
  const rest = keys.slice(SAMPLE)
  if (rest.length === 0) return items
  await reserveUnits((rest.length * (usedUnits() - before)) / SAMPLE)
  return [...items, ...(await deps.table.getMany(rest, reads))]
}

export type KeyedItem = { readonly key: Key; readonly item: Item | undefined }

export function keyedItems(
  keys: readonly Key[],
  items: readonly (Item | undefined)[],
): readonly KeyedItem[] {
  return keys.map((key, at) => ({ key, item: items[at] }))
}

/** The index may be stale. */
export async function* itemPages(
  deps: TableDeps,
  { kind, ...list }: QueryInput & { readonly index: IndexName; readonly kind: Partition },
): AsyncGenerator<readonly KeyedItem[]> {
  for await (const { items } of queryPages(deps, list)) {
    const keys = rowKeysOf(kind, items)
    yield keyedItems(keys, await deps.table.getMany(keys, list.reads))
  }
}

export async function queryAll(deps: TableDeps, input: QueryInput) {
  return (await Array.fromAsync(queryPages(deps, input), ({ items }) => items)).flat()
}

/**
 * Yields a key range page by page, from its beginning or after a cursor, so that memory stays
 * bounded.
 */
export async function* queryPages(deps: TableDeps, input: QueryInput): AsyncGenerator<QueryPage> {
  let { cursor } = input
  do {
    const page = await deps.table.query({ ...input, cursor })
    yield page
    cursor = page.cursor
  } while (cursor)
}
