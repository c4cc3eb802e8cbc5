import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  type GetCommandInput,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { copyItemOut, type StoredItem } from './attribute-value.ts'
import { batchGet } from './batch-get.ts'
import { tableIndex } from './indexed-entries.ts'
import { itemRules } from './item-rules.ts'
import { OutsideModel } from './outside-model.ts'
import { type PlannedWrite, planDelete, planPut, planUpdate } from './planned-write.ts'
import { queryTable } from './query-table.ts'
import { requestTokens } from './request-tokens.ts'
import type { ItemKey, TableChange } from './table-change.ts'
import { conditionFailed, noSuchTable } from './table-errors.ts'
import { tableItems } from './table-items.ts'
import type { TableShape } from './table-shape.ts'
import { decideTransaction, readTransaction } from './transact-write.ts'

export type SimTableOptions = {
  readonly schema: TableShape
  readonly tableName: string
  /** Hears of each change of an item, in order, when it has happened. */
  readonly onChange?: (change: TableChange) => void
  /** `manual` (the default): an index knows of a change only when applyToIndexes() tells it. */
  readonly indexes?: 'manual' | 'immediate'
  /** How many keys of a batch read are left unprocessed; none when not given. DynamoDB always processes one. */
  readonly unprocessedOf?: (keyCount: number) => number
  /** How old request tokens are; without a clock they stay valid. */
  readonly nowMs?: () => number
}

export type SimTable = {
  /** Runs one command at once and to its end. Throws what the SDK throws. */
  readonly execute: (command: object) => object
  /** Tells the indexes, or one of them, of a change; the changes of one item in their order, each once. */
  readonly applyToIndexes: (change: TableChange, indexName?: string) => void
  /** Copies of all items in the order of their keys. */
  readonly snapshot: () => readonly Readonly<Record<string, unknown>>[]
  /** All items with a partition key of that prefix, in the order of their keys. Not copied: read only. */
  readonly items: (pkPrefix?: string) => readonly StoredItem[]
  /** The item itself, or undefined. Not copied: read only. */
  readonly item: (key: ItemKey) => StoredItem | undefined
}

/**
 * DynamoDB in memory, as far as the gateway's stores use it. A command has its whole effect on the table at once, and
 * none on the indexes. What is not modelled throws OutsideModel, so that nothing is answered by guess. Held to DynamoDB
 * Local by the conformance suite.
 */
export const createSimTable = (options: SimTableOptions): SimTable => {
  const { schema, tableName, onChange, unprocessedOf = () => 0 } = options
  const rules = itemRules(schema)
  const items = tableItems()
  const indexes = new Map(Object.entries(schema.indexes).map(([name, index]) => [name, tableIndex(index)]))
  const tokens = requestTokens(options.nowMs ?? (() => 0))

  const applyToIndexes: SimTable['applyToIndexes'] = (change, indexName) => {
    for (const [name, index] of indexes) if (indexName === undefined || indexName === name) index.apply(change)
  }

  const store = ({ key }: PlannedWrite, item: StoredItem | undefined, size: number) => {
    const change = items.write(key, item, size)
    if (!change) return
    if (options.indexes === 'immediate') applyToIndexes(change)
    onChange?.(change)
  }

  const write = (planned: PlannedWrite): StoredItem | undefined => {
    const was = items.get(planned.key)?.item
    if (!planned.holds(was)) throw conditionFailed(planned.tellsItem ? was : undefined)
    const { item, size } = planned.result(was)
    store(planned, item, size)
    return item
  }

  const get = (input: GetCommandInput): object => {
    if (input.ConsistentRead !== true) throw new OutsideModel('a stale read of the table is not modelled')
    const found = items.get(rules.keyIn(input.Key))
    return found ? { Item: copyItemOut(found.item) } : {}
  }

  const update = (input: UpdateCommandInput): object => {
    const item = write(planUpdate(rules, input))
    return input.ReturnValues === 'ALL_NEW' && item ? { Attributes: copyItemOut(item) } : {}
  }

  const transactWrite = (input: TransactWriteCommandInput): object => {
    const { ClientRequestToken: token, TransactItems: request } = input
    const table = { name: tableName, rules, items }
    const steps = readTransaction(table, input)
    if (token !== undefined && tokens.wasApplied(token, request)) return {}
    for (const { write: planned, item, size } of decideTransaction(table, steps)) store(planned, item, size)
    if (token !== undefined) tokens.applied(token, request)
    return {}
  }

  const run = (command: object): object => {
    if (command instanceof TransactWriteCommand) return transactWrite(command.input)
    if (command instanceof BatchGetCommand)
      return batchGet({ name: tableName, rules, items, unprocessedOf }, command.input)
    if (!isKnown(command)) throw new OutsideModel(`the model has no ${command.constructor.name}`)
    if (command.input.TableName !== tableName) throw noSuchTable()
    if (command instanceof GetCommand) return get(command.input)
    if (command instanceof QueryCommand) return queryTable({ shape: schema, items, indexes }, command.input)
    if (command instanceof UpdateCommand) return update(command.input)
    write(command instanceof PutCommand ? planPut(rules, command.input) : planDelete(rules, command.input))
    return {}
  }

  return {
    execute: (command) => ({ $metadata: { httpStatusCode: 200, attempts: 1 }, ...run(command) }),
    applyToIndexes,
    snapshot: () => [...items.all()].map(copyItemOut),
    items: (pkPrefix) => [...items.all(pkPrefix)],
    item: (key) => items.get(key)?.item,
  }
}

type Known = GetCommand | QueryCommand | UpdateCommand | PutCommand | DeleteCommand

const isKnown = (command: object): command is Known =>
  [GetCommand, QueryCommand, UpdateCommand, PutCommand, DeleteCommand].some((kind) => command instanceof kind)
