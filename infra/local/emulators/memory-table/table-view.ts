import type { Key } from '../../../../shared/table/keys.ts'
import type { IndexSchema } from '../../../../shared/table/schema.ts'
import type { KeyValue } from './check-item.ts'
import { OutsideModel, type StoredItem } from './stored-item.ts'

/** Read only, never copied. */
export type TableChange = {
  readonly key: Key
  readonly before: StoredItem | undefined
  readonly after: StoredItem | undefined
}

/** Only the table holds whole items. */
export type ViewShape = IndexSchema & { readonly isTable?: true }

export type Entry = {
  readonly partition: string
  readonly sort: readonly KeyValue[]
  readonly item: StoredItem
}

/** Empty after its last item was deleted. */
type Partition = { readonly first: string; readonly entries: readonly Entry[] }

/** In the order of the keys of the table or index. `follow` applies changes. */
export type TableView = ReturnType<typeof tableView>

export function tableView(shape: ViewShape) {
  const partitions = new Map<string, Entry[]>()
  const rowsByKey = new Map<
    string,
    { readonly item: StoredItem; readonly entry: Entry | undefined }
  >()
  const orderedPartitions: Partition[] = []
  const places = [...shape.partition, ...shape.sort]
  return {
    shape,
    item: (key: Key) => rowsByKey.get(keyText(key))?.item,
    partition: (values: readonly KeyValue[]): readonly Entry[] =>
      partitions.get(JSON.stringify(values)) ?? [],
    /** All partitions, in the order of the first attribute of their key. */
    partitions: (): readonly Partition[] => {
      // A map keeps insertion order, so the new keys are last.
      const newPartitions =
        orderedPartitions.length < partitions.size
          ? [...partitions].slice(orderedPartitions.length)
          : []
      for (const [key, entries] of newPartitions) {
        const first = String(JSON.parse(key)[0])
        const position = orderedPartitions.findLastIndex(
          (partition) => (orderOf(partition.first, first) ?? 0) < 0,
        )
        orderedPartitions.splice(position + 1, 0, { first, entries })
      }
      return orderedPartitions
    },
    /** The changes of one item must come in order; throws if one is missing. */
    follow: ({ key, before, after }: TableChange): void => {
      const text = keyText(key)
      const row = rowsByKey.get(text)
      if (row?.item !== before) {
        throw new OutsideModel('a view follows the changes of one item in their order, each once')
      }
      const oldEntry = row?.entry
      const oldEntries = (oldEntry && partitions.get(oldEntry.partition)) ?? []
      if (before && after && places.every((name) => before[name] === after[name])) {
        const entry = oldEntry && { ...oldEntry, item: projectedItem(shape, after) }
        if (entry) oldEntries[oldEntries.indexOf(oldEntry)] = entry
        return void rowsByKey.set(text, { item: after, entry })
      }
      if (oldEntry) oldEntries.splice(oldEntries.indexOf(oldEntry), 1)
      if (!after) return void rowsByKey.delete(text)
      const entry = entryOf(shape, after)
      rowsByKey.set(text, { item: after, entry })
      if (!entry) return
      const entries = partitions.get(entry.partition) ?? []
      partitions.set(entry.partition, entries)
      entries.splice(
        entries.findLastIndex(({ sort }) => compareSort(sort, entry.sort) < 0) + 1,
        0,
        entry,
      )
    },
  }
}

/** Keys never contain a line break. */
function keyText({ pk, sk }: Key) {
  return `${pk}\n${sk}`
}

/** Undefined if the types differ, or have no order. */
export function orderOf(a: unknown, b: unknown) {
  if (typeof a === 'string' && typeof b === 'string') return textOrder(a, b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  return typeof a === 'number' && typeof b === 'number' ? a - b : undefined
}

const SURROGATE = /[\ud800-\udfff]/

/** By UTF-8 bytes, as in DynamoDB. JavaScript's order differs only for surrogate pairs. */
function textOrder(a: string, b: string) {
  if (a === b) return 0
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

function projectedItem({ partition, sort, isTable }: ViewShape, item: StoredItem): StoredItem {
  if (isTable) return item
  const keys: Record<string, unknown> = {}
  for (const names of [partition, sort, ['pk', 'sk']]) {
    for (const name of names) if (item[name] !== undefined) keys[name] = item[name]
  }
  return keys
}

/** A view leaves out an item that lacks a key attribute. */
export function entryOf(
  { partition, sort, isTable }: ViewShape,
  item: StoredItem,
): Entry | undefined {
  const valuesOf = (attributes: readonly string[]) =>
    attributes
      .map((attribute) => item[attribute])
      .filter((value) => typeof value === 'string' || typeof value === 'number')
  const partitionValues = valuesOf(partition)
  if (partitionValues.length < partition.length) return undefined
  const sortValues = valuesOf([...sort, 'pk', 'sk'])
  if (sortValues.length < sort.length + 2) return undefined
  return {
    partition: JSON.stringify(partitionValues),
    sort: sortValues,
    item: projectedItem({ partition, sort, isTable }, item),
  }
}

export function compareSort(a: Entry['sort'], b: Entry['sort']) {
  for (const [at, value] of a.entries()) {
    const order = orderOf(value, b[at]) ?? 0
    if (order !== 0) return order
  }
  return 0
}
