import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { planStep } from '../../infra/local/emulators/memory-table/plan-step.ts'
import { queryView } from '../../infra/local/emulators/memory-table/query-view.ts'
import { recordOf, type StoredItem } from '../../infra/local/emulators/memory-table/stored-item.ts'
import {
  compareSort,
  type Entry,
  entryOf,
  type TableChange,
  type TableView,
  tableView,
} from '../../infra/local/emulators/memory-table/table-view.ts'
import { isContention } from '../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import type { Item } from '../../shared/table/attributes.ts'
import type { Key } from '../../shared/table/keys.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import type { Step } from '../../shared/table/step.ts'

/** Stored items never change, so each is read once. */
const hashes = new WeakMap<StoredItem, string>()

/** The items at the start of every schedule, in the order of the table and of each index. */
export type Base = {
  readonly items: ReadonlyMap<string, StoredItem>
  readonly views: ReadonlyMap<string, TableView>
}

/**
 * Which items of a transaction readers see at once: all items, or one item and the others later.
 */
export type Visible = 'all' | 'first' | 'last'

/**
 * A table whose transactions become visible item by item. Writes see the committed items: a
 * transaction checks all its conditions and is atomic against other writes. Reads see what is
 * visible, strongly consistent ones too. A write waits for the items that it names, so it makes
 * them visible first. Indexes follow the visible items. What a step does and what a query answers
 * is the table's in memory, which the conformance suite holds to DynamoDB Local.
 */
export function partialTable(base: Base) {
  const committed = new Map<string, StoredItem | undefined>()
  const views = new Map([...base.views].map(([name, view]) => [name, forkedView(view)]))
  const viewOf = (name: string) => {
    const view = views.get(name)
    if (view === undefined) throw new Error(`no index ${name}`)
    return view
  }
  const shown = viewOf('')
  let late: readonly TableChange[] = []

  const storedAt = (key: Key) =>
    committed.has(nameOf(key)) ? committed.get(nameOf(key)) : base.items.get(nameOf(key))

  const show = (isWanted: (change: TableChange) => boolean = () => true) => {
    const wanted = late.filter(isWanted)
    late = late.filter((change) => !wanted.includes(change))
    for (const change of wanted) for (const view of views.values()) view.follow(change)
  }

  const store = (key: Key, after: StoredItem | undefined): readonly TableChange[] => {
    const before = storedAt(key)
    if (isDeepStrictEqual(before, after)) return []
    committed.set(nameOf(key), after)
    return [{ key, before, after }]
  }

  /** All steps or none: the first step that is refused, or nothing. */
  const commit = (steps: readonly Step[], visible: Visible) => {
    show(({ key }) => steps.some((step) => nameOf(step.key) === nameOf(key)))
    const planned = steps.map(planStep)
    const refusedAt = planned.findIndex(({ key, conditionHolds }) => !conditionHolds(storedAt(key)))
    if (refusedAt !== -1) return refusedAt
    const changes = planned
      .map(({ key, result }) => ({ key, after: result(storedAt(key)) }))
      .flatMap(({ key, after }) => store(key, after))
    late = [...late, ...changes]
    const now =
      visible === 'first' ? changes.slice(0, 1) : visible === 'last' ? changes.slice(-1) : changes
    show((change) => now.includes(change))
    return -1
  }

  const requestsWith = (visible: Visible): TableRequests => ({
    get: async (key, some) => {
      const item = outOf(shown.item(key))
      return item && fieldsOf(some?.fields)(item)
    },
    batchGet: async (keys, _, fields) => ({
      items: keys
        .map((key) => outOf(shown.item(key)))
        .filter((item) => item !== undefined)
        .map(fieldsOf(fields)),
      unprocessed: [],
    }),
    query: async (input) => {
      const { items, cursor } = queryView(viewOf(input.index ?? ''), input)
      return {
        items: input.countOnly === true ? [] : items.map(recordOf).map(fieldsOf(input.fields)),
        count: items.length,
        cursor,
      }
    },
    write: async (step) => {
      const was = storedAt(step.key)
      const applied = commit([step], 'all') === -1
      const isTold = step.kind === 'update' && step.returnsNothing !== true
      return {
        applied,
        item: applied ? (isTold ? outOf(storedAt(step.key)) : undefined) : outOf(was),
      }
    },
    transact: async (steps) => {
      const refusedAt = commit(steps, visible)
      const refused = steps[refusedAt]
      return refused === undefined
        ? { applied: true }
        : { applied: false, refusedAt, item: outOf(storedAt(refused.key)) }
    },
    isContention,
  })

  return {
    requestsWith,
    late: () => late,
    show,
    /** Two tables with the same text have the same items, committed and visible. */
    state: () =>
      JSON.stringify([
        [...committed].map(([name, item]) => `${name} ${hashOfItem(item)}`).toSorted(),
        late.map(({ key, before }) => [key, hashOfItem(before)]),
      ]),
    changed: () => [...committed].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    items: () =>
      [...new Map([...base.items, ...committed]).values()].filter((item) => item !== undefined),
  }
}

/**
 * A view that begins as another one and never changes it. It copies a partition when a change
 * touches it.
 */
function forkedView(base: TableView): TableView {
  const own = new Map<string, readonly Entry[]>()
  const changed = new Map<string, StoredItem | undefined>()
  const { shape } = base
  const entriesIn = (partition: string) =>
    own.get(partition) ?? base.partition(JSON.parse(partition))
  return {
    ...base,
    item: (key) => (changed.has(nameOf(key)) ? changed.get(nameOf(key)) : base.item(key)),
    partition: (values) => entriesIn(JSON.stringify(values)),
    follow: ({ key, before, after }) => {
      changed.set(nameOf(key), after)
      const old = before && entryOf(shape, before)
      if (old) {
        const others = entriesIn(old.partition).filter(
          ({ item }) => item['pk'] !== key.pk || item['sk'] !== key.sk,
        )
        own.set(old.partition, others)
      }
      const entry = after && entryOf(shape, after)
      if (!entry) return
      const entries = entriesIn(entry.partition)
      const at = entries.findLastIndex(({ sort }) => compareSort(sort, entry.sort) < 0) + 1
      own.set(entry.partition, entries.toSpliced(at, 0, entry))
    },
  }
}

export function nameOf({ pk, sk }: Key) {
  return `${pk}\n${sk}`
}

function fieldsOf(fields: readonly string[] | undefined) {
  return (item: Item) =>
    fields === undefined
      ? item
      : Object.fromEntries(Object.entries(item).filter(([name]) => fields.includes(name)))
}

function outOf(item: StoredItem | undefined) {
  return item && recordOf(item)
}

function hashOfItem(item: StoredItem | undefined) {
  if (item === undefined) return ''
  const known = hashes.get(item) ?? hash('sha1', JSON.stringify(item))
  hashes.set(item, known)
  return known
}

export function baseOf(items: readonly StoredItem[]): Base {
  const views = new Map(
    Object.entries(TABLE_SCHEMA.indexes).map(([name, shape]) => [name, tableView(shape)]),
  )
  views.set('', tableView({ partition: ['pk'], sort: ['sk'], isTable: true }))
  const keyed = items.map((item) => ({
    key: { pk: String(item['pk']), sk: String(item['sk']) },
    item,
  }))
  for (const { key, item } of keyed) {
    for (const view of views.values()) view.follow({ key, before: undefined, after: item })
  }
  return { items: new Map(keyed.map(({ key, item }) => [nameOf(key), item])), views }
}

export type PartialTable = ReturnType<typeof partialTable>
