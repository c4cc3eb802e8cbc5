import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb'
import { copyItemIn, copyItemOut, type StoredItem, type Value } from './attribute-value.ts'
import { bind } from './bound-placeholders.ts'
import type { TableIndex } from './indexed-entries.ts'
import { boundsOf, compileKeyCondition, farBound, isInRange, type KeyRange, keyRange } from './key-condition.ts'
import { OutsideModel } from './outside-model.ts'
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
export const queryTable = (table: QueryableTable, input: QueryCommandInput): object => {
  const source = sourceOf(table, input)
  if (input.Limit !== undefined && !(input.Limit >= 1)) throw validationError('Limit must be at least 1')
  if (input.KeyConditionExpression === undefined) throw validationError('A query needs a key condition')
  const compiled = compileKeyCondition(input.KeyConditionExpression)
  const key = { partition: source.partitionKey, sort: source.sortKey, types: table.shape.attributeTypes }
  const range = keyRange(compiled, key, bind(input, [compiled]))
  const entries = source.entries(range.partition)
  const start = input.ExclusiveStartKey && startOf(table, source, range, copyItemIn(input.ExclusiveStartKey))
  const forward = input.ScanIndexForward ?? true
  const page = takePage(entries, {
    range: range.sort,
    start,
    forward,
    limit: input.Limit,
  })
  const last = page.taken.at(-1)
  // Behind the item at the far bound of a range nothing can be. An index may have others with the same sort attribute.
  const isExhausted = input.IndexName === undefined && last?.sort[0] === farBound(range.sort, forward)
  const hasMore = last !== undefined && !page.ended && !isExhausted
  return {
    ...(input.Select !== 'COUNT' && { Items: page.taken.map(({ item }) => copyItemOut(item)) }),
    Count: page.taken.length,
    ScannedCount: page.taken.length,
    ...(hasMore && { LastEvaluatedKey: cursorTo(source, last.item) }),
  }
}

const sourceOf = ({ shape, items, indexes }: QueryableTable, input: QueryCommandInput): Source => {
  if (input.IndexName === undefined) {
    if (input.ConsistentRead !== true) throw new OutsideModel('a stale read of the table is not modelled')
    return {
      partitionKey: [shape.partitionKey],
      sortKey: [shape.sortKey],
      entries: ([pk]) => items.partition(String(pk)),
    }
  }
  const index = indexes.get(input.IndexName)
  if (!index) throw validationError(`The table does not have the specified index: ${input.IndexName}`)
  if (input.ConsistentRead === true) {
    throw validationError('Consistent reads are not supported on global secondary indexes')
  }
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
  readonly limit: number | undefined
}

const takePage = (entries: Entries, { range, start, forward, limit = Number.POSITIVE_INFINITY }: PageRequest) => {
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
