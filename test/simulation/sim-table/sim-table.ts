import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'
import { fromItem, type Item } from '../../../shared/table/attributes.ts'
import { copyItemOut, type StoredItem } from './attribute-value.ts'
import { batchGet } from './batch-get.ts'
import { tableIndex } from './indexed-entries.ts'
import { itemRules } from './item-rules.ts'
import { OutsideModel } from './outside-model.ts'
import { type PlannedWrite, planWrite } from './planned-write.ts'
import { queryTable } from './query-table.ts'
import type { ItemKey, TableChange } from './table-change.ts'
import { tableItems } from './table-items.ts'
import type { TableShape } from './table-shape.ts'
import { decideTransaction } from './transact-write.ts'

export type SimTableOptions = {
  readonly schema: TableShape
  /** Hears of each change of an item, in order, when it has happened. */
  readonly onChange?: (change: TableChange) => void
  /** `manual` (the default): an index knows of a change only when applyToIndexes() tells it. */
  readonly indexes?: 'manual' | 'immediate'
  /** How many keys of a batch read are left unprocessed; none when not given. DynamoDB always processes one. */
  readonly unprocessedOf?: (keyCount: number) => number
}

type Sync<Request> = Request extends (...args: infer Args) => Promise<infer Answer> ? (...args: Args) => Answer : never
type RequestName = Exclude<keyof TableRequests, 'isContention'>

export type SimTable = {
  /** Each runs at once and to its end. Throws what the SDK throws when DynamoDB finds the request invalid. */
  readonly requests: { readonly [Name in RequestName]: Sync<TableRequests[Name]> }
  /** Tells the indexes, or one of them, of a change; the changes of one item in their order, each once. */
  readonly applyToIndexes: (change: TableChange, indexName?: string) => void
  /** Copies of all items in the order of their keys. */
  readonly snapshot: () => readonly Readonly<Record<string, unknown>>[]
  /** All items with a partition key of that prefix, in the order of their keys. Not copied: read only. */
  readonly items: (pkPrefix?: string) => readonly StoredItem[]
  /** The item itself, or undefined. Not copied: read only. */
  readonly item: (key: ItemKey) => StoredItem | undefined
}

const outOf = (item: StoredItem | undefined): Item | undefined => item && fromItem(copyItemOut(item))

/**
 * DynamoDB in memory, as far as the port to the table goes. A request has its whole effect on the table at once, and
 * none on the indexes. What is not modelled throws OutsideModel, so that nothing is answered by guess. Held to DynamoDB
 * Local by the conformance suite.
 */
export const createSimTable = (options: SimTableOptions): SimTable => {
  const { schema, onChange, unprocessedOf = () => 0 } = options
  const rules = itemRules(schema)
  const items = tableItems()
  const indexes = new Map(Object.entries(schema.indexes).map(([name, index]) => [name, tableIndex(index)]))

  const applyToIndexes: SimTable['applyToIndexes'] = (change, indexName) => {
    for (const [name, index] of indexes) if (indexName === undefined || indexName === name) index.apply(change)
  }

  const store = ({ key }: PlannedWrite, item: StoredItem | undefined, size: number) => {
    const change = items.write(key, item, size)
    if (!change) return
    if (options.indexes === 'immediate') applyToIndexes(change)
    onChange?.(change)
  }

  const requests: SimTable['requests'] = {
    get: (key) => outOf(items.get(rules.keyIn(key))?.item),
    batchGet: (keys) => {
      const { found, unprocessed } = batchGet({ rules, items, unprocessedOf }, keys)
      return { items: found.map(fromItem), unprocessed }
    },
    query: (input) => {
      const { found, ...page } = queryTable({ shape: schema, items, indexes }, input)
      return { ...page, items: found.map(fromItem) }
    },
    write: (step) => {
      if (step.kind === 'check') throw new OutsideModel('a condition check stands alone only inside a transaction')
      const planned = planWrite(rules, step)
      const was = items.get(planned.key)?.item
      if (!planned.holds(was)) return { applied: false, item: outOf(was) }
      const { item, size } = planned.result(was)
      store(planned, item, size)
      return { applied: true, item: step.kind === 'update' ? outOf(item) : undefined }
    },
    transact: (steps) => {
      const decision = decideTransaction({ rules, items }, steps)
      if (!decision.applied) return { applied: false, refusedAt: decision.refusedAt, item: outOf(decision.was) }
      for (const { write, item, size } of decision.planned) store(write, item, size)
      return { applied: true }
    },
  }

  return {
    requests,
    applyToIndexes,
    snapshot: () => [...items.all()].map(copyItemOut),
    items: (pkPrefix) => [...items.all(pkPrefix)],
    item: (key) => items.get(key)?.item,
  }
}
