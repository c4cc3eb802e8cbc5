import type { StoredItem } from '../../infra/local/emulators/memory-table/stored-item.ts'
import {
  compareSort,
  type Entry,
  entryOf,
  type TableView,
  tableView,
  type ViewShape,
} from '../../infra/local/emulators/memory-table/table-view.ts'
import type { Key } from '../../shared/table/keys.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'

export const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`

/** Items that are the same at the start of every schedule: the table's own order, and the one of each index. */
export type Base = { readonly items: ReadonlyMap<string, StoredItem>; readonly views: ReadonlyMap<string, TableView> }

const SHAPES: Readonly<Record<string, ViewShape>> = {
  '': { partition: ['pk'], sort: ['sk'], include: 'everything' },
  ...TABLE_SCHEMA.indexes,
}

export const baseOf = (items: readonly StoredItem[]): Base => {
  const views = new Map(Object.entries(SHAPES).map(([name, shape]) => [name, tableView(shape)]))
  const keyed = items.map((item) => ({ key: { pk: String(item['pk']), sk: String(item['sk']) }, item }))
  for (const { key, item } of keyed) {
    for (const view of views.values()) view.follow({ key, before: undefined, after: item })
  }
  return { items: new Map(keyed.map(({ key, item }) => [nameOf(key), item])), views }
}

const isOf =
  ({ pk, sk }: Key) =>
  ({ item }: Entry): boolean =>
    item['pk'] === pk && item['sk'] === sk

/** A view that begins as another one and never changes it. It copies a partition when a change touches it. */
export const forkedView = (base: TableView): TableView => {
  const own = new Map<string, readonly Entry[]>()
  const changed = new Map<string, StoredItem | undefined>()
  const { shape } = base
  const entriesIn = (partition: string) => own.get(partition) ?? base.partition(JSON.parse(partition))
  return {
    ...base,
    item: (key) => (changed.has(nameOf(key)) ? changed.get(nameOf(key)) : base.item(key)),
    partition: (values) => entriesIn(JSON.stringify(values)),
    follow: ({ key, before, after }) => {
      changed.set(nameOf(key), after)
      const old = before && entryOf(shape, before)
      if (old)
        own.set(
          old.partition,
          entriesIn(old.partition).filter((entry) => !isOf(key)(entry)),
        )
      const entry = after && entryOf(shape, after)
      if (!entry) return
      const entries = entriesIn(entry.partition)
      const at = entries.findLastIndex(({ sort }) => compareSort(sort, entry.sort) < 0) + 1
      own.set(entry.partition, entries.toSpliced(at, 0, entry))
    },
  }
}
