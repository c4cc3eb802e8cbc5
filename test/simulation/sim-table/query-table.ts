import type { QueryInput } from '../../../shared/table/table.ts'
import { copyItemIn, copyItemOut, type StoredItem, type Value } from './attribute-value.ts'
import type { TableIndex } from './indexed-entries.ts'
import { boundsOf, farBound, isInRange, type KeyRange, keyRange } from './key-range.ts'
import { compareSort, type Entries, type Entry, firstBehind } from './sorted-entries.ts'
import { validationError } from './table-errors.ts'
import type { TableItems } from './table-items.ts'
import type { TableShape } from './table-shape.ts'

type Source = {
  readonly partitionKey: readonly string[]
  readonly sortKey: readonly string[]
  readonly entries: (partition: readonly (string | number)[]) => Entries
}

export type QueryableTable = {
  readonly shape: TableShape
  readonly items: TableItems
  readonly indexes: ReadonlyMap<string, TableIndex>
}

const PAGE_BYTES = 1_024 * 1_024

/** One page of a query, as DynamoDB cuts it. */
export const queryTable = (table: QueryableTable, input: QueryInput) => {
  const source = sourceOf(table, input.index)
  if (!(input.limit >= 1)) throw validationError('Limit must be at least 1')
  const key = { partition: source.partitionKey, sort: source.sortKey, types: table.shape.attributeTypes }
  const range = keyRange(input, key)
  const entries = source.entries(range.partition)
  const start = input.cursor && startOf(table, source, range, copyItemIn(input.cursor))
  const forward = !(input.newestFirst ?? false)
  const page = takePage(entries, { range: range.sort, start, forward, limit: input.limit })
  const last = page.taken.at(-1)
  // Behind the item at the far bound of a range nothing can be. An index may have others with the same sort attribute.
  const isExhausted = input.index === undefined && last?.sort[0] === farBound(range.sort, forward)
  const hasMore = last !== undefined && !page.ended && !isExhausted
  return {
    found: input.countOnly ? [] : page.taken.map(({ item }) => copyItemOut(item)),
    count: page.taken.length,
    cursor: hasMore ? cursorTo(source, last.item) : undefined,
  }
}

const sourceOf = ({ shape, items, indexes }: QueryableTable, name: string | undefined): Source => {
  if (name === undefined) {
    return {
      partitionKey: [shape.partitionKey],
      sortKey: [shape.sortKey],
      entries: ([pk]) => items.partition(String(pk)),
    }
  }
  const index = indexes.get(name)
  if (!index) throw validationError(`The table does not have the specified index: ${name}`)
  return { partitionKey: index.shape.partition, sortKey: index.shape.sort, entries: index.partition }
}

const PRIMARY = ['pk', 'sk']

/** The index's key attributes and the table's: what a cursor is made of. */
const cursorAttributes = (source: Source) => new Set([...source.partitionKey, ...source.sortKey, ...PRIMARY])

const cursorTo = (source: Source, item: StoredItem): Record<string, unknown> =>
  Object.fromEntries([...cursorAttributes(source)].map((attribute) => [attribute, item[attribute]]))

/** The place of a cursor; it need not be an entry any more. */
const startOf = (table: QueryableTable, source: Source, range: KeyRange, cursor: StoredItem): Entry['sort'] => {
  const attributes = cursorAttributes(source)
  const valid = (attribute: string, value: Value | undefined) =>
    value !== '' && typeof value === (table.shape.attributeTypes[attribute] === 'N' ? 'number' : 'string')
  if (
    Object.keys(cursor).length !== attributes.size ||
    ![...attributes].every((attribute) => valid(attribute, cursor[attribute]))
  ) {
    throw validationError('The provided starting key is invalid')
  }
  if (!source.partitionKey.every((attribute, at) => cursor[attribute] === range.partition[at])) {
    throw validationError('The provided starting key is outside query boundaries based on provided conditions')
  }
  const sort = [...new Set([...source.sortKey, ...PRIMARY])]
    .filter((attribute) => !source.partitionKey.includes(attribute))
    .map((attribute) => cursor[attribute])
    .filter((value) => typeof value === 'string' || typeof value === 'number')
  if (!isInRange(range.sort, sort[0] ?? '')) {
    throw validationError('The provided starting key does not match the range key predicate')
  }
  return sort
}

type PageRequest = {
  readonly range: KeyRange['sort']
  readonly start: Entry['sort'] | undefined
  readonly forward: boolean
  readonly limit: number
}

const takePage = (entries: Entries, { range, start, forward, limit }: PageRequest) => {
  const [from, to] = boundsOf(entries, range)
  const taken: Entry[] = []
  let bytes = 0
  let at = firstOf(entries, [from, to], { start, forward })
  for (; forward ? at < to : at >= from; at += forward ? 1 : -1) {
    const entry = entries[at]
    if (!entry) break
    taken.push(entry)
    bytes += entry.size
    // A full page has a cursor even when nothing is behind it: DynamoDB promises no more. (DynamoDB Local looks ahead
    // when it is the size that fills the page, and counts whole items where AWS counts an index's own entries.)
    if (taken.length === limit || bytes >= PAGE_BYTES) return { taken, ended: false }
  }
  return { taken, ended: true }
}

const firstOf = (
  entries: Entries,
  [from, to]: readonly [number, number],
  { start, forward }: Pick<PageRequest, 'start' | 'forward'>,
): number => {
  if (!start) return forward ? from : to - 1
  return forward
    ? Math.max(
        from,
        firstBehind(entries, ({ sort }) => compareSort(sort, start) > 0),
      )
    : Math.min(
        to,
        firstBehind(entries, ({ sort }) => compareSort(sort, start) >= 0),
      ) - 1
}
