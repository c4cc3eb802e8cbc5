import type { StoredItem, Value } from './attribute-value.ts'
import { equalItems } from './compare-values.ts'
import { itemSize } from './item-size.ts'
import { OutsideModel } from './outside-model.ts'
import { type Entries, type Entry, insertEntry, removeEntry } from './sorted-entries.ts'
import { keyText, type TableChange } from './table-change.ts'
import type { IndexShape } from './table-shape.ts'

/** A global secondary index: it knows of a change when it is told, which may be long after the table. */
export type TableIndex = {
  readonly shape: IndexShape
  readonly partition: (values: readonly Value[]) => Entries
  /** Follows one change. The changes of one item come in their order; throws when one was left out. */
  readonly apply: (change: TableChange) => void
}

type Indexed = { readonly partition: string; readonly entry: Entry }

export const tableIndex = (shape: IndexShape): TableIndex => {
  const partitions = new Map<string, Entry[]>()
  const indexed = new Map<string, Indexed>()
  const followed = new Map<string, number>()

  const place = (key: string, next: Indexed | undefined) => {
    const old = indexed.get(key)
    if (old && next && old.partition === next.partition && equalItems(old.entry.item, next.entry.item)) return
    if (old) {
      removeEntry(partitions.get(old.partition) ?? [], old.entry.sort)
      indexed.delete(key)
    }
    if (!next) return
    const entries = partitions.get(next.partition) ?? []
    partitions.set(next.partition, entries)
    insertEntry(entries, next.entry)
    indexed.set(key, next)
  }

  return {
    shape,
    partition: (values) => partitions.get(JSON.stringify(values)) ?? [],
    apply: (change) => {
      const key = keyText(change.key)
      if ((followed.get(key) ?? 0) !== change.previous) {
        throw new OutsideModel('an index follows the changes of one item in their order, each once')
      }
      followed.set(key, change.sequence)
      place(key, change.after && indexedForm(shape, change.after))
    },
  }
}

const isScalarKey = (value: Value | undefined): value is string | number =>
  typeof value === 'string' || typeof value === 'number'

/** Undefined when the item lacks any of the key's attributes: it is not in the index then. */
export const indexedForm = (shape: IndexShape, item: StoredItem): Indexed | undefined => {
  const partition = shape.partition.map((attribute) => item[attribute])
  const sort = [...shape.sort, 'pk', 'sk'].map((attribute) => item[attribute])
  if (!partition.every(isScalarKey) || !sort.every(isScalarKey)) return undefined
  const projected: Record<string, Value> = {}
  for (const attribute of [...shape.partition, ...shape.sort, 'pk', 'sk', ...shape.include]) {
    const value = item[attribute]
    if (value !== undefined) projected[attribute] = value
  }
  return { partition: JSON.stringify(partition), entry: { sort, item: projected, size: itemSize(projected) } }
}
