import type { TableDeps } from '../deps.ts'
import { firstOfPage, type Page } from '../page.ts'
import { fieldName, type Item } from './attributes.ts'
import { type Key, type Partition, rowKeyOf } from './keys.ts'
import { type IndexName, keyAttributes, TABLE_SCHEMA } from './schema.ts'
import type { QueryInput, QueryPage, Reads } from './table.ts'

type ListInput = {
  readonly index: IndexName
  readonly kind: Partition
  readonly partitions: readonly (readonly unknown[])[]
  readonly page: Page
  /** Eventually consistent if the list is only shown and decides nothing. */
  readonly reads?: Reads
}

/**
 * The maximum number of keys of one query before a deep page; the keys of all partitions are in
 * memory.
 */
const MAX_KEYS = 1_000

/**
 * One page of a list, newest first, without rows that no longer match. A deep page reads all keys
 * before it.
 */
export async function listItems(
  deps: TableDeps,
  { index, kind, partitions, page, reads }: ListInput,
): Promise<readonly Item[]> {
  const first = firstOfPage(page)
  // An equal share of the keys before the page, and the whole page.
  const limit = Math.min(shareOf(first, partitions) + page.perPage, MAX_KEYS)
  const keys: Key[] = []
  let passedCount = 0
  for await (const { items } of mergedPages(deps, {
    index,
    partitions,
    newestFirst: true,
    limit,
  })) {
    keys.push(...items.slice(Math.max(0, first - passedCount)).map((item) => rowKeyOf(kind, item)))
    passedCount += items.length
    if (keys.length >= page.perPage) break
  }
  const fields = TABLE_SCHEMA.indexes[index].partition.map(fieldName)
  const isListed = (item: Item | undefined): item is Item =>
    item !== undefined &&
    partitions.some((values) => fields.every((field, at) => item[field] === values[at]))
  return (await deps.table.getMany(keys.slice(0, page.perPage), reads)).filter(isListed)
}

/** The query limit of each partition so that all together answer `limit` items. */
export function shareOf(limit: number, partitions: readonly unknown[]): number {
  return Math.ceil(limit / partitions.length)
}

type MergedInput = Pick<QueryInput, 'index' | 'range' | 'newestFirst' | 'limit'> & {
  readonly partitions: readonly (readonly unknown[])[]
}

type PartitionRead = {
  readonly partition: readonly unknown[]
  /** The items that were read but not yielded yet, each with its place in the list. */
  pending: readonly (readonly [place: string, item: Item])[]
  cursor: Item | undefined
  isAtEnd: boolean
}

/**
 * Yields partitions as one list, in order, by pages. `after`: a key and its sort attributes, which
 * need not exist.
 */
export async function* mergedPages(
  deps: TableDeps,
  { partitions, ...input }: MergedInput,
  after?: Item,
): AsyncGenerator<{ readonly items: readonly Item[]; readonly more: boolean }> {
  const key = keyAttributes(input.index)
  // Compared as text. That is DynamoDB's order, because all values have one length and plain
  // letters.
  const placeOf = (item: Item) => key.sort.map((name) => String(item[fieldName(name)])).join(' ')
  const isBefore = (a: string, b: string) => (input.newestFirst === true ? a > b : a < b)
  const parts = partitions.map((partition): PartitionRead => {
    const partitionKey = Object.fromEntries(key.partition.map((name, at) => [name, partition[at]]))
    return {
      partition,
      pending: [],
      cursor: after && { ...after, ...partitionKey },
      isAtEnd: false,
    }
  })
  const readNextPage = async (part: PartitionRead): Promise<void> => {
    const { partition, cursor } = part
    const page = await deps.table.query({ ...input, partition, cursor })
    const pending = page.items.map((item) => [placeOf(item), item] as const)
    Object.assign(part, { pending, cursor: page.cursor, isAtEnd: page.cursor === undefined })
  }
  for (let more = true; more; ) {
    await Promise.all(
      parts.filter(({ pending, isAtEnd }) => pending.length === 0 && !isAtEnd).map(readNextPage),
    )
    const openParts = parts.filter(({ isAtEnd }) => !isAtEnd)
    // An item after the last read item of any partition must wait: unread items may come before it.
    const ends = openParts.map(({ pending }) => pending.at(-1)?.[0])
    const isNext = (place: string) =>
      ends.every((end) => end !== undefined && !isBefore(end, place))
    const next = parts.flatMap(({ pending }) => pending.filter(([place]) => isNext(place)))
    for (const part of parts) part.pending = part.pending.filter(([place]) => !isNext(place))
    more = openParts.length > 0
    yield {
      items: next.toSorted(([a], [b]) => (isBefore(a, b) ? -1 : 1)).map(([, item]) => item),
      more,
    }
  }
}

/** A key and its item, as the table has it now; undefined when the item is missing. */
export type KeyedItem = { readonly key: Key; readonly item: Item | undefined }

export function keyedItems(
  keys: readonly Key[],
  items: readonly (Item | undefined)[],
): readonly KeyedItem[] {
  return keys.map((key, at) => ({ key, item: items[at] }))
}

/** Yields the items of a list page by page. The index may be stale. */
export async function* itemPages(
  deps: TableDeps,
  { kind, ...list }: MergedInput & { readonly index: IndexName; readonly kind: Partition },
): AsyncGenerator<readonly KeyedItem[]> {
  for await (const { items } of mergedPages(deps, list)) {
    const keys = items.map((row) => rowKeyOf(kind, row))
    yield keyedItems(keys, await deps.table.getMany(keys))
  }
}

export async function queryAll(deps: TableDeps, input: QueryInput): Promise<readonly Item[]> {
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
