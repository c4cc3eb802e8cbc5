import { isDeepStrictEqual } from 'node:util'
import type { MemoryTable } from '../../infra/local/emulators/memory-table/memory-table.ts'
import { itemSize, type StoredItem } from '../../infra/local/emulators/memory-table/stored-item.ts'
import { entryOf } from '../../infra/local/emulators/memory-table/table-view.ts'
import { toItem } from '../../shared/table/attributes.ts'
import type { Key } from '../../shared/table/keys.ts'
import { type IndexSchema, TABLE_SCHEMA } from '../../shared/table/schema.ts'
import type { QueryInput, Reads } from '../../shared/table/table.ts'

/** Request units as DynamoDB bills them: table and indexes together. */
export type Units = { readonly reads: number; readonly writes: number }

/** How much of what: `calls transact`, `writes PAYMENT`, `writes PAYMENT/by-due`, `reads CLIENT`. */
export type Detail = Readonly<Record<string, number>>

const INDEXES: readonly (readonly [string, IndexSchema])[] = Object.entries(TABLE_SCHEMA.indexes)
const WRITE_BYTES = 1_024
const READ_BYTES = 4_096
/** A read without the guarantee costs half, and so do those of indexes, which never have it. */
const PER_UNIT: Readonly<Record<Reads, number>> = { consistent: 1, eventual: 2 }
/** DynamoDB prepares and commits each item of a transaction, and bills both. */
const TRANSACTIONAL = 2
/** What is billed on top of each item, and of each entry of an index, while it is stored. */
const STORED_OVERHEAD = 100

const writeUnits = (bytes: number): number => Math.ceil(bytes / WRITE_BYTES)
/** What finds nothing is billed like the smallest. */
const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_BYTES))

const sizeOf = (item: StoredItem | undefined): number => (item ? itemSize(item) : 0)
const indexed = (index: IndexSchema, item: StoredItem | undefined) => item && entryOf(index, item)?.item

/** Units of a write, and the partition of the index whose they are. */
type InPartition = readonly [partition: string, units: number]

/** An entry whose key changes is removed and put anew. */
const indexUnits = (
  index: IndexSchema,
  before: StoredItem | undefined,
  after: StoredItem | undefined,
): readonly InPartition[] => {
  const [was, is] = [indexed(index, before), indexed(index, after)]
  const of = (entry: StoredItem, bytes = sizeOf(entry)): InPartition => [
    index.partition.map((name) => String(entry[name])).join(' '),
    writeUnits(bytes),
  ]
  if (!was || !is) return [was ?? is].flatMap((entry) => (entry ? [of(entry)] : []))
  if (isDeepStrictEqual(was, is)) return []
  const moved = [...index.partition, ...index.sort].some((name) => was[name] !== is[name])
  return moved ? [of(was), of(is)] : [of(is, Math.max(sizeOf(was), sizeOf(is)))]
}

/** What an item is: the first word of its sort key, or of its partition where that begins with a time. */
const kindOf = ({ pk, sk }: Key): string => /^[A-Z]+/.exec(sk)?.[0] ?? pk.slice(0, pk.indexOf('#'))

/** `partition`: of the table, or with its name of an index. */
type Count = (what: string, partition: string, units: number) => void

const countWrite = (count: Count, key: Key, before: StoredItem | undefined, after: StoredItem | undefined): void => {
  const kind = kindOf(key)
  count(kind, key.pk, Math.max(1, writeUnits(sizeOf(before)), writeUnits(sizeOf(after))))
  for (const [name, index] of INDEXES) {
    for (const [partition, units] of indexUnits(index, before, after)) {
      count(`${kind}/${name}`, `${name} ${partition}`, units)
    }
  }
}

/**
 * Counts, from now on, what DynamoDB would bill for the requests to a table in memory, by its published rules: for each
 * item and each index from what it was and what it became. A refused condition costs as much as a write of the item as it is.
 */
export const meterTable = (table: MemoryTable) => {
  let counted: Record<string, number> = {}
  const writtenIn = new Map<string, number>()
  const add = (name: string, units: number): void => {
    if (units > 0) counted[name] = (counted[name] ?? 0) + units
  }
  const { get, batchGet, query, write, transact } = table.requests
  const reading = (call: string, keys: readonly Key[], reads: Reads = 'consistent') => {
    add(`calls ${call}`, 1)
    for (const key of keys) add(`reads ${kindOf(key)}`, readUnits(sizeOf(table.item(key))) / PER_UNIT[reads])
  }
  const writing = <Answer>(call: string, keys: readonly Key[], times: number, run: () => Answer): Answer => {
    const before = keys.map(table.item)
    const answer = run()
    add(`calls ${call}`, 1)
    const count: Count = (what, partition, units) => {
      add(`writes ${what}`, times * units)
      writtenIn.set(partition, (writtenIn.get(partition) ?? 0) + times * units)
    }
    for (const [at, key] of keys.entries()) countWrite(count, key, before[at], table.item(key))
    return answer
  }
  const metered: MemoryTable['requests'] = {
    get: (key, some) => {
      reading('get', [key], some?.consistent === false ? 'eventual' : 'consistent')
      return get(key, some)
    },
    batchGet: (keys, reads) => {
      reading('batchGet', keys, reads)
      return batchGet(keys, reads)
    },
    query: (input) => {
      const { fields: _, ...whole } = input
      const found = query({ ...whole, countOnly: false }).items
      const bytes = found.reduce<number>((sum, item) => sum + itemSize(toItem(item)), 0)
      add('calls query', 1)
      add(
        `reads ${input.index ?? partitionKind(input)}`,
        readUnits(bytes) / PER_UNIT[input.index === undefined ? 'consistent' : 'eventual'],
      )
      return query(input)
    },
    write: (step) => writing(step.kind, [step.key], 1, () => write(step)),
    transact: (steps) =>
      writing(
        'transact',
        steps.map(({ key }) => key),
        TRANSACTIONAL,
        () => transact(steps),
      ),
  }
  Object.assign(table.requests, metered)
  return {
    /** Write units by the partition whose they are, of the table and of each index, since the beginning. */
    writtenIn: writtenIn as ReadonlyMap<string, number>,
    /** Since it was last asked. */
    take: (): Units & { readonly detail: Detail } => {
      const detail = counted
      counted = {}
      return { reads: unitsIn(detail, 'reads'), writes: unitsIn(detail, 'writes'), detail }
    },
  }
}

/** Of a query of the table: whose items it reads together. */
const partitionKind = ({ partition: [pk] }: QueryInput): string => /^[A-Z]+/.exec(String(pk))?.[0] ?? 'another'

/** All that was used of one sort: `reads`, `writes`, `calls`, `provider`. */
export const unitsIn = (detail: Detail, sort: string): number =>
  Object.entries(detail).reduce((sum, [name, units]) => sum + (name.startsWith(`${sort} `) ? units : 0), 0)

/** Bytes that are billed for what is in the table now, with its index entries. */
export const storedBytes = (table: Pick<MemoryTable, 'items'>): number =>
  table
    .items()
    .flatMap((item) => [
      itemSize(item),
      ...INDEXES.map(([, index]) => indexed(index, item))
        .filter((entry) => entry !== undefined)
        .map(itemSize),
    ])
    .reduce((sum, bytes) => sum + bytes + STORED_OVERHEAD, 0)
