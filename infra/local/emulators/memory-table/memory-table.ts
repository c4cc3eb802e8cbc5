import { isDeepStrictEqual } from 'node:util'
import type { TableRequests } from '../../../../shared/runtime/aws/retrying-table.ts'
import type { Item } from '../../../../shared/table/attributes.ts'
import type { Key } from '../../../../shared/table/keys.ts'
import { TABLE_SCHEMA } from '../../../../shared/table/schema.ts'
import type { Step } from '../../../../shared/table/step.ts'
import { checkKey } from './check-item.ts'
import { planStep } from './plan-step.ts'
import { queryView } from './query-view.ts'
import { type RequestUse, useOfQuery, useOfReads, useOfWrites } from './request-use.ts'
import { InvalidRequest, itemSize, OutsideModel, recordOf, type StoredItem } from './stored-item.ts'
import { type TableChange, tableView } from './table-view.ts'

type MemoryTableOptions = {
  readonly onChange?: (change: TableChange) => void
  readonly onWritten?: (changes: readonly TableChange[]) => void
  /** Called for each step whose condition refused, with the stored item. */
  readonly onRefused?: (step: Step, storedItem: StoredItem | undefined) => void
  /** By default only applyToIndexes() updates the indexes. */
  readonly indexes?: 'manual' | 'immediate'
}

type Sync<Request> = Request extends (...args: infer Args) => Promise<infer Answer>
  ? (...args: Args) => Answer
  : never
type RequestName = Exclude<keyof TableRequests, 'isContention'>

/** Throws InvalidRequest where DynamoDB refuses the request. */
type SyncRequests = { readonly [Name in RequestName]: Sync<TableRequests[Name]> }

const PRIMARY_SHAPE = { partition: ['pk'], sort: ['sk'], isTable: true } as const
const MAX_AT_ONCE = 100
/** DynamoDB refuses a larger transaction, and answers only a part of a larger batch read. */
const MAX_TRANSACTION_BYTES = 4 * 1_024 * 1_024
const MAX_BATCH_BYTES = 16 * 1_024 * 1_024

const NOTHING_USED: RequestUse = { parts: [], reported: 0 }

/**
 * DynamoDB in memory, for the requests of the table's port, each atomic; the indexes follow later.
 * A request that is not modelled throws OutsideModel. A suite compares this model with DynamoDB
 * Local.
 */
export function createMemoryTable(options: MemoryTableOptions = {}) {
  const table = tableView(PRIMARY_SHAPE)
  /** Eventually consistent reads lag like the indexes. */
  const replica = tableView(PRIMARY_SHAPE)
  const indexes = new Map(
    Object.entries(TABLE_SCHEMA.indexes).map(([name, shape]) => [name, tableView(shape)]),
  )

  /** Apply the changes of one item in order, each once. */
  const applyToIndexes = (change: TableChange) => {
    for (const view of [replica, ...indexes.values()]) view.follow(change)
  }

  const store = (key: Key, after: StoredItem | undefined) => {
    const before = table.item(key)
    if (isDeepStrictEqual(before, after)) return []
    const change: TableChange = { key: { pk: key.pk, sk: key.sk }, before, after }
    table.follow(change)
    if (options.indexes === 'immediate') applyToIndexes(change)
    options.onChange?.(change)
    return [change]
  }

  let lastUse = () => NOTHING_USED

  const requests: SyncRequests = {
    get: (key, projection) => {
      checkKey(key)
      const storedItem = table.item(key)
      lastUse = () =>
        useOfReads(
          [{ key, item: storedItem }],
          projection?.consistent === false ? 'eventual' : 'consistent',
        )
      const item = copyOf(storedItem)
      return item && projection ? onlyFields(item, projection.fields) : item
    },
    batchGet: (keys, reads, fields) => {
      keys.forEach(checkKey)
      checkCount(keys)
      const storedItems = keys.map((key) => ({ key, item: table.item(key) }))
      lastUse = () => useOfReads(storedItems, reads)
      // DynamoDB guarantees no order. The reversed order reveals callers that rely on an order.
      const foundItems = keys
        .toReversed()
        .map((reads === 'eventual' ? replica : table).item)
        .filter((item) => item !== undefined)
      checkBytes(foundItems, MAX_BATCH_BYTES)
      const items = foundItems
        .map(recordOf)
        .map((item) => (fields ? onlyFields(item, fields) : item))
      return { items, unprocessed: [] }
    },
    query: (input) => {
      const own = input.reads === 'eventual' ? replica : table
      const view = input.index === undefined ? own : indexes.get(input.index)
      if (!view) throw new InvalidRequest(`the table has no index ${input.index}`)
      const { items: pageItems, cursor } = queryView(view, input)
      const { fields } = input
      const items = input.countOnly ? [] : pageItems.map(recordOf)
      lastUse = () => useOfQuery(input, pageItems)
      return {
        items: fields ? items.map((item) => onlyFields(item, fields)) : items,
        count: pageItems.length,
        cursor,
      }
    },
    write: (step) => {
      if (step.kind === 'check')
        throw new OutsideModel('a condition check exists only inside a transaction')
      const { key, conditionHolds, result } = planStep(step)
      const oldItem = table.item(key)
      if (step.kind === 'put') result(oldItem)
      const answersItem = step.kind !== 'update' || step.returnsNothing !== true
      const useWith = (after: StoredItem | undefined, applied: boolean) => () =>
        useOfWrites([{ key, before: oldItem, after }], { applied, transactional: false })
      if (!conditionHolds(oldItem)) {
        lastUse = useWith(oldItem, false)
        options.onRefused?.(step, oldItem)
        return { applied: false, item: answersItem ? copyOf(oldItem) : undefined }
      }
      const newItem = result(oldItem)
      lastUse = useWith(newItem, true)
      const changes = store(key, newItem)
      options.onWritten?.(changes)
      return {
        applied: true,
        item: step.kind === 'update' && answersItem ? copyOf(newItem) : undefined,
      }
    },
    transact: (steps) => {
      const plans = steps.map(planStep)
      checkCount(steps.map(({ key }) => key))
      const oldItems = plans.map(({ key }) => table.item(key))
      const useWith = (after: readonly (StoredItem | undefined)[], applied: boolean) => () =>
        useOfWrites(
          plans.map(({ key }, at) => ({ key, before: oldItems[at], after: after[at] })),
          { applied, transactional: true },
        )
      const refusedAt = plans.findIndex(({ conditionHolds }, at) => !conditionHolds(oldItems[at]))
      const refusedStep = steps[refusedAt]
      if (refusedStep) {
        lastUse = useWith(oldItems, false)
        options.onRefused?.(refusedStep, oldItems[refusedAt])
        return { applied: false, refusedAt, item: copyOf(oldItems[refusedAt]) }
      }
      const newItems = plans.map(({ result }, at) => result(oldItems[at]))
      checkBytes(newItems, MAX_TRANSACTION_BYTES)
      lastUse = useWith(newItems, true)
      const changes = plans.flatMap(({ key }, at) => store(key, newItems[at]))
      options.onWritten?.(changes)
      return { applied: true }
    },
  }

  return {
    requests,
    /** The first call computes the units, so make it before the next request. */
    lastUse: () => {
      const use = lastUse()
      lastUse = () => use
      return use
    },
    applyToIndexes,
    /** Without checks: the table that the item comes from has checked it. */
    restore: (item: StoredItem) => store({ pk: String(item['pk']), sk: String(item['sk']) }, item),
    /** In the order of their keys. Not copied: read only. */
    items: (pkPrefix = ''): readonly StoredItem[] => {
      const items: StoredItem[] = []
      for (const { first, entries } of table.partitions()) {
        if (first.startsWith(pkPrefix)) for (const { item } of entries) items.push(item)
      }
      return items
    },
    /** Not copied: read only. */
    item: table.item,
  }
}

function copyOf(item: StoredItem | undefined): Item | undefined {
  return item && recordOf(item)
}

function onlyFields(item: Item, fields: readonly string[]): Item {
  return Object.fromEntries(Object.entries(item).filter(([field]) => fields.includes(field)))
}

export type MemoryTable = ReturnType<typeof createMemoryTable>

function checkCount(keys: readonly Key[]) {
  const names = new Set(keys.map(({ pk, sk }) => JSON.stringify([pk, sk])))
  if (keys.length === 0 || keys.length > MAX_AT_ONCE)
    throw new InvalidRequest('a request needs 1 to 100 items')
  if (names.size < keys.length) throw new InvalidRequest('a request names an item twice')
}

function checkBytes(items: readonly (StoredItem | undefined)[], maxBytes: number) {
  if (items.reduce((bytes, item) => bytes + itemSize(item ?? {}), 0) > maxBytes)
    throw new OutsideModel('too many bytes')
}
