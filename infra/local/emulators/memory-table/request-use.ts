import { isDeepStrictEqual } from 'node:util'
import type { Key } from '../../../../shared/table/keys.ts'
import { type IndexSchema, TABLE_SCHEMA } from '../../../../shared/table/schema.ts'
import type { QueryInput, Reads } from '../../../../shared/table/table.ts'
import { itemSize, type StoredItem } from './stored-item.ts'
import { entryOf, type TableChange } from './table-view.ts'

type UsePart = {
  readonly sort: 'reads' | 'writes'
  /** `PAYMENT`, `PAYMENT/by-due`. */
  readonly what: string
  /** The partition that the units count against, with an index's name. */
  readonly partition: string
  readonly units: number
}

/** The units of one request by DynamoDB's published rules. */
export type RequestUse = {
  readonly parts: readonly UsePart[]
  /** A refused condition is an error, and errors report no units. */
  readonly reported: number
}

const INDEXES: readonly (readonly [string, IndexSchema])[] = Object.entries(TABLE_SCHEMA.indexes)
const WRITE_BYTES = 1_024
const READ_BYTES = 4_096
/** Index reads are always eventually consistent. */
const READS_PER_UNIT: Readonly<Record<Reads, number>> = { consistent: 1, eventual: 2 }
/** DynamoDB prepares and commits each item of a transaction, and bills both steps. */
const TRANSACTIONAL_TIMES = 2

export function indexEntries(item: StoredItem): readonly StoredItem[] {
  return INDEXES.map(([, index]) => entryOf(index, item)?.item).filter(
    (entry) => entry !== undefined,
  )
}

/** A refused condition costs as much as writing the stored item again. */
export function useOfWrites(
  writes: readonly TableChange[],
  { applied, transactional }: { readonly applied: boolean; readonly transactional: boolean },
): RequestUse {
  const parts = writes.flatMap((write) =>
    writeParts(write, transactional ? TRANSACTIONAL_TIMES : 1),
  )
  return { parts, reported: applied ? sumOf(parts) : 0 }
}

function writeParts({ key, before, after }: TableChange, times: number) {
  const kind = kindOf(key)
  const part = (what: string, partition: string, units: number): UsePart => ({
    sort: 'writes',
    what,
    partition,
    units: times * units,
  })
  return [
    part(kind, key.pk, Math.max(1, writeUnits(sizeOf(before)), writeUnits(sizeOf(after)))),
    ...INDEXES.flatMap(([name, index]) =>
      indexUnits(index, before, after).map(([partition, units]) =>
        part(`${kind}/${name}`, `${name} ${partition}`, units),
      ),
    ),
  ]
}

/** The first word of the sort key, or of the partition key if the sort key starts with a time. */
function kindOf({ pk, sk }: Key) {
  return /^[A-Z]+/.exec(sk)?.[0] ?? pk.slice(0, pk.indexOf('#'))
}

function writeUnits(bytes: number) {
  return Math.ceil(bytes / WRITE_BYTES)
}

function sizeOf(item: StoredItem | undefined) {
  return item ? itemSize(item) : 0
}

type PartitionUnits = readonly [partition: string, units: number]

/** A change of an entry's key costs a delete and a put. */
function indexUnits(
  index: IndexSchema,
  before: StoredItem | undefined,
  after: StoredItem | undefined,
) {
  const [oldEntry, newEntry] = [
    before && entryOf(index, before)?.item,
    after && entryOf(index, after)?.item,
  ]
  const unitsOf = (entry: StoredItem, bytes = sizeOf(entry)): PartitionUnits => [
    index.partition.map((name) => String(entry[name])).join(' '),
    writeUnits(bytes),
  ]
  if (!oldEntry || !newEntry)
    return [oldEntry ?? newEntry].flatMap((entry) => (entry ? [unitsOf(entry)] : []))
  if (isDeepStrictEqual(oldEntry, newEntry)) return []
  const moved = [...index.partition, ...index.sort].some(
    (name) => oldEntry[name] !== newEntry[name],
  )
  return moved
    ? [unitsOf(oldEntry), unitsOf(newEntry)]
    : [unitsOf(newEntry, Math.max(sizeOf(oldEntry), sizeOf(newEntry)))]
}

function sumOf(parts: readonly UsePart[]) {
  return parts.reduce((sum, { units }) => sum + units, 0)
}

export function useOfReads(
  items: readonly { readonly key: Key; readonly item: StoredItem | undefined }[],
  reads: Reads = 'consistent',
): RequestUse {
  const parts = items.map(
    ({ key, item }): UsePart => ({
      sort: 'reads',
      what: kindOf(key),
      partition: key.pk,
      units: readUnits(sizeOf(item)) / READS_PER_UNIT[reads],
    }),
  )
  return { parts, reported: sumOf(parts) }
}

function readUnits(bytes: number) {
  return Math.max(1, Math.ceil(bytes / READ_BYTES))
}

/** `what` is the index, or the kind of partition for the table. */
export function useOfQuery(
  { index, partition, reads = 'consistent' }: QueryInput,
  items: readonly StoredItem[],
): RequestUse {
  const bytes = items.reduce((sum, item) => sum + itemSize(item), 0)
  const units = readUnits(bytes) / READS_PER_UNIT[index === undefined ? reads : 'eventual']
  const what = index ?? /^[A-Z]+/.exec(String(partition[0]))?.[0] ?? 'another'
  return {
    parts: [{ sort: 'reads', what, partition: partition.join(' '), units }],
    reported: units,
  }
}
