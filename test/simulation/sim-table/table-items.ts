import type { StoredItem } from './attribute-value.ts'
import { compareStrings, equalItems } from './compare-values.ts'
import { type Entries, type Entry, insertEntry, removeEntry } from './sorted-entries.ts'
import { type ItemKey, keyText, type TableChange } from './table-change.ts'

/** The table itself: what is written is there at once. */
export type TableItems = {
  readonly get: (key: ItemKey) => Entry | undefined
  readonly partition: (pk: string) => Entries
  /** Stores the item, or removes it when there is none. Answers the change; undefined when nothing changed. */
  readonly write: (key: ItemKey, item: StoredItem | undefined, size: number) => TableChange | undefined
  /** All items, or those with a partition key of that prefix, in the order of their keys. */
  readonly all: (pkPrefix?: string) => Iterable<StoredItem>
}

type Partition = { readonly bySk: Map<string, Entry>; readonly sorted: Entry[] }

export const tableItems = (): TableItems => {
  const partitions = new Map<string, Partition>()
  const lastChange = new Map<string, number>()
  let sequence = 0

  const partitionOf = (pk: string): Partition => {
    const known = partitions.get(pk)
    if (known) return known
    const made = { bySk: new Map<string, Entry>(), sorted: [] }
    partitions.set(pk, made)
    return made
  }

  const record = (key: ItemKey, before: StoredItem | undefined, after: StoredItem | undefined): TableChange => {
    sequence++
    const text = keyText(key)
    const previous = lastChange.get(text) ?? 0
    lastChange.set(text, sequence)
    const eventName = before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY'
    return { sequence, previous, key, before, after, eventName }
  }

  return {
    get: ({ pk, sk }) => partitions.get(pk)?.bySk.get(sk),
    partition: (pk) => partitions.get(pk)?.sorted ?? [],
    write: (key, item, size) => {
      const { bySk, sorted } = partitionOf(key.pk)
      const before = bySk.get(key.sk)?.item
      if (equalItems(before, item)) return undefined
      if (item === undefined) {
        bySk.delete(key.sk)
        removeEntry(sorted, [key.sk])
      } else {
        const entry = { sort: [key.sk], item, size }
        bySk.set(key.sk, entry)
        insertEntry(sorted, entry)
      }
      return record(key, before, item)
    },
    all: function* (pkPrefix = '') {
      const wanted = [...partitions.keys()].filter((pk) => pk.startsWith(pkPrefix))
      for (const pk of wanted.toSorted(compareStrings)) {
        for (const { item } of partitions.get(pk)?.sorted ?? []) yield item
      }
    },
  }
}
