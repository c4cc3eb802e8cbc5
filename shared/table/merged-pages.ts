import type { TableDeps } from '../deps.ts'
import { fieldName, type Item } from './attributes.ts'
import { type IndexName, TABLE_SCHEMA } from './schema.ts'
import type { QueryInput } from './table.ts'

type MergedInput = Pick<QueryInput, 'range' | 'newestFirst'> & {
  /** Default: the table itself, read consistently. */
  readonly index?: IndexName
  /** For each partition the values of its attributes, in the schema's order. */
  readonly partitions: readonly (readonly unknown[])[]
  /** The limit of one query of one partition. */
  readonly limit: number
}

type MergedPage = { readonly items: readonly Item[]; readonly more: boolean }

/** The items of one partition that are read but not yielded yet. */
type Part = {
  readonly partition: readonly unknown[]
  read: readonly Item[]
  at: number
  cursor: Item | undefined
  ended: boolean
}

const isEmpty = ({ read, at }: Part): boolean => at >= read.length

type Order = (a: Item, b: Item) => number

const OWN_KEY = { partition: [TABLE_SCHEMA.partitionKey], sort: [TABLE_SCHEMA.sortKey] } as const

const keysOf = (index: IndexName | undefined) => (index === undefined ? OWN_KEY : TABLE_SCHEMA.indexes[index])

/** Compares as text. That is DynamoDB's order, because all values have one length and plain letters. */
const orderOf = (index: IndexName | undefined, newestFirst: boolean): Order => {
  const fields = keysOf(index).sort.map(fieldName)
  const sign = newestFirst ? -1 : 1
  return (a, b) => {
    for (const field of fields) {
      const [left, right] = [String(a[field]), String(b[field])]
      if (left !== right) return left < right ? -sign : sign
    }
    return 0
  }
}

const cursorIn = (index: IndexName | undefined, partition: readonly unknown[], position: Item): Item => ({
  ...position,
  ...Object.fromEntries(keysOf(index).partition.map((name, at) => [name, partition[at]])),
})

/** The part with the next item; undefined if a part must be read first, or all items are yielded. */
const nextOf = (parts: readonly Part[], order: Order): Part | undefined => {
  let next: Part | undefined
  for (const part of parts) {
    if (isEmpty(part)) {
      if (!part.ended) return undefined
      continue
    }
    const [item, best] = [part.read[part.at], next?.read[next.at]]
    if (item && (best === undefined || order(item, best) < 0)) next = part
  }
  return next
}

/**
 * Yields several partitions of an index as one list, in the index's order, page by page. Partitions are queried in
 * parallel; a page ends when one of them must be queried again. `after`: a position made of the table's key and the
 * index's sort attributes. It holds for all partitions, because it need not exist in them.
 */
export const mergedPages = async function* (
  deps: TableDeps,
  { partitions, ...input }: MergedInput,
  after?: Item,
): AsyncGenerator<MergedPage> {
  const order = orderOf(input.index, input.newestFirst === true)
  const parts = partitions.map(
    (partition): Part => ({
      partition,
      read: [],
      at: 0,
      cursor: after && cursorIn(input.index, partition, after),
      ended: false,
    }),
  )
  const readOn = async (part: Part): Promise<void> => {
    const { partition, cursor } = part
    const page = await deps.table.query({ ...input, partition, ...(cursor && { cursor }) })
    Object.assign(part, { read: page.items, at: 0, cursor: page.cursor, ended: page.cursor === undefined })
  }
  for (let more = true; more; ) {
    await Promise.all(parts.filter((part) => isEmpty(part) && !part.ended).map(readOn))
    const items: Item[] = []
    for (let part = nextOf(parts, order); part; part = nextOf(parts, order)) {
      const item = part.read[part.at++]
      if (item) items.push(item)
    }
    // If all partitions have ended, every item is yielded.
    more = parts.some(({ ended }) => !ended)
    yield { items, more }
  }
}

/** The query limit of each partition so that all together answer `limit` items. */
export const shareOf = (limit: number, partitions: readonly unknown[]): number =>
  Math.ceil(limit / Math.max(1, partitions.length))

/** Yields a whole key range page by page, so that memory stays bounded. */
export const queryPages = async function* (
  deps: TableDeps,
  input: Omit<QueryInput, 'cursor'>,
  /** Start position; default: the beginning. */
  from?: Item,
): AsyncGenerator<readonly Item[]> {
  let cursor = from
  do {
    const page = await deps.table.query({ ...input, ...(cursor && { cursor }) })
    yield page.items
    cursor = page.cursor
  } while (cursor)
}
