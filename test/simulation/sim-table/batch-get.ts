import type { BatchGetCommandInput } from '@aws-sdk/lib-dynamodb'
import { copyItemOut } from './attribute-value.ts'
import type { ItemRules } from './item-rules.ts'
import { OutsideModel } from './outside-model.ts'
import { type ItemKey, keyText } from './table-change.ts'
import { noSuchTable, validationError } from './table-errors.ts'
import type { TableItems } from './table-items.ts'

type Table = {
  readonly name: string
  readonly rules: ItemRules
  readonly items: TableItems
  /** How many keys a fault leaves unprocessed. */
  readonly unprocessedOf: (keyCount: number) => number
}

const MAX_KEYS = 100
const MAX_BYTES = 16 * 1_024 * 1_024

/** Reads up to 100 items of the one table, and may leave keys unprocessed: all but one by fault, or beyond 16 MB. */
export const batchGet = (table: Table, { RequestItems: asked = {} }: BatchGetCommandInput): object => {
  const request = asked[table.name]
  if (!request || Object.keys(asked).length !== 1) throw noSuchTable()
  if (request.ConsistentRead !== true) throw new OutsideModel('a stale read of the table is not modelled')
  const keys = (request.Keys ?? []).map(table.rules.keyIn)
  if (keys.length === 0 || keys.length > MAX_KEYS) throw validationError('A batch read takes 1 to 100 keys')
  if (new Set(keys.map(keyText)).size < keys.length) {
    throw validationError('Provided list of item keys contains duplicates')
  }
  const left = Math.min(Math.max(table.unprocessedOf(keys.length), 0), keys.length - 1)
  const processed = Math.min(keys.length - left, keysWithinLimit(table.items, keys))
  // The order of an answer is DynamoDB's own: anything but the one asked for shows who relies on that.
  const found = keys
    .slice(0, processed)
    .toReversed()
    .flatMap((key) => table.items.get(key) ?? [])
  const unprocessed = keys.slice(processed).map((key) => ({ ...key }))
  return {
    Responses: { [table.name]: found.map(({ item }) => copyItemOut(item)) },
    UnprocessedKeys: unprocessed.length > 0 ? { [table.name]: { Keys: unprocessed, ConsistentRead: true } } : {},
  }
}

const keysWithinLimit = (items: TableItems, keys: readonly ItemKey[]): number => {
  let bytes = 0
  for (const [at, key] of keys.entries()) {
    bytes += items.get(key)?.size ?? 0
    if (bytes > MAX_BYTES) return at
  }
  return keys.length
}
