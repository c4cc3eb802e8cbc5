import type { Key } from '../../../../shared/table/keys.ts'
import type { KeyValue } from './check-item.ts'
import { orderOf } from './order-of.ts'
import { OutsideModel } from './request-errors.ts'
import type { StoredItem } from './stored-item.ts'

/** One change of one item, which the indexes have to follow. Read only, never copied. */
export type TableChange = {
  readonly key: Key
  readonly before: StoredItem | undefined
  readonly after: StoredItem | undefined
}

/** The key attributes of the table itself or of an index, and what is copied beside them. */
export type ViewShape = {
  readonly partition: readonly string[]
  readonly sort: readonly string[]
  readonly include: readonly string[] | 'everything'
}

/** An item as a view has it. */
export type Entry = { readonly partition: string; readonly sort: readonly KeyValue[]; readonly item: StoredItem }

/** Of one partition key; empty when its last item is gone. */
type Partition = { readonly first: string; readonly entries: readonly Entry[] }

/** Undefined when the item lacks any of the key's attributes: it is not in the view then. */
export const entryOf = ({ partition, sort, include }: ViewShape, item: StoredItem): Entry | undefined => {
  const valuesOf = (attributes: readonly string[]) =>
    attributes
      .map((attribute) => item[attribute])
      .filter((value) => typeof value === 'string' || typeof value === 'number')
  const found = valuesOf(partition)
  if (found.length < partition.length) return undefined
  // Behind the sort attributes the primary key, so that no two entries are equal.
  const places = valuesOf([...sort, 'pk', 'sk'])
  if (places.length < sort.length + 2) return undefined
  return { partition: JSON.stringify(found), sort: places, item: shownOf({ partition, sort, include }, item) }
}

/** What the view has of an item. */
const shownOf = ({ partition, sort, include }: ViewShape, item: StoredItem): StoredItem => {
  if (include === 'everything') return item
  const shown: Record<string, unknown> = {}
  for (const names of [partition, sort, ['pk', 'sk'], include]) {
    for (const name of names) if (item[name] !== undefined) shown[name] = item[name]
  }
  return shown
}

export const compareSort = (a: Entry['sort'], b: Entry['sort']): number => {
  for (const [at, value] of a.entries()) {
    const order = orderOf(value, b[at]) ?? 0
    if (order !== 0) return order
  }
  return 0
}

/** No key has a line break in it. */
const keyText = ({ pk, sk }: Key) => `${pk}\n${sk}`

/** The table's items in the order of its keys or of an index's. It knows of a change when it is told. */
export type TableView = ReturnType<typeof tableView>

export const tableView = (shape: ViewShape) => {
  const partitions = new Map<string, Entry[]>()
  const followed = new Map<string, { readonly item: StoredItem; readonly entry: Entry | undefined }>()
  const inOrder: Partition[] = []
  /** An item that keeps these keeps its place. */
  const places = [...shape.partition, ...shape.sort]
  return {
    shape,
    /** The item itself, or undefined. */
    item: (key: Key): StoredItem | undefined => followed.get(keyText(key))?.item,
    /** The entries with these values of the partition attributes, ascending. */
    partition: (values: readonly KeyValue[]): readonly Entry[] => partitions.get(JSON.stringify(values)) ?? [],
    /** All partitions, by the first attribute of their key and in its order. */
    partitions: (): readonly Partition[] => {
      // A map keeps the order in which its keys came: what follows is new since the last time.
      const fresh = inOrder.length < partitions.size ? [...partitions].slice(inOrder.length) : []
      for (const [key, entries] of fresh) {
        const first = String(JSON.parse(key)[0])
        const before = inOrder.findLastIndex((other) => (orderOf(other.first, first) ?? 0) < 0)
        inOrder.splice(before + 1, 0, { first, entries })
      }
      return inOrder
    },
    /** Follows one change. The changes of one item come in their order; throws when one was left out. */
    follow: ({ key, before, after }: TableChange): void => {
      const text = keyText(key)
      const last = followed.get(text)
      if (last?.item !== before) {
        throw new OutsideModel('a view follows the changes of one item in their order, each once')
      }
      const old = last?.entry
      const ofOld = (old && partitions.get(old.partition)) ?? []
      if (before && after && places.every((name) => before[name] === after[name])) {
        const entry = old && { ...old, item: shownOf(shape, after) }
        if (entry) ofOld[ofOld.indexOf(old)] = entry
        return void followed.set(text, { item: after, entry })
      }
      if (old) ofOld.splice(ofOld.indexOf(old), 1)
      if (!after) return void followed.delete(text)
      const entry = entryOf(shape, after)
      followed.set(text, { item: after, entry })
      if (!entry) return
      const entries = partitions.get(entry.partition) ?? []
      partitions.set(entry.partition, entries)
      entries.splice(entries.findLastIndex(({ sort }) => compareSort(sort, entry.sort) < 0) + 1, 0, entry)
    },
  }
}
