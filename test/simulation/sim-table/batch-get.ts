import { copyItemOut, type StoredItem } from './attribute-value.ts'
import type { ItemRules } from './item-rules.ts'
import { type ItemKey, keyText } from './table-change.ts'
import { validationError } from './table-errors.ts'
import type { TableItems } from './table-items.ts'

type Table = {
  readonly rules: ItemRules
  readonly items: TableItems
  /** How many keys a fault leaves unprocessed. */
  readonly unprocessedOf: (keyCount: number) => number
}

const MAX_KEYS = 100
const MAX_BYTES = 16 * 1_024 * 1_024

/** Reads up to 100 items, and may leave keys unprocessed: all but one by fault, or beyond 16 MB. */
export const batchGet = (table: Table, asked: readonly object[]) => {
  const keys = asked.map(table.rules.keyIn)
  if (keys.length === 0 || keys.length > MAX_KEYS) throw validationError('A batch read takes 1 to 100 keys')
  if (new Set(keys.map(keyText)).size < keys.length) {
    throw validationError('Provided list of item keys contains duplicates')
  }
  const left = Math.min(Math.max(table.unprocessedOf(keys.length), 0), keys.length - 1)
  const processed = Math.min(keys.length - left, keysWithinLimit(table.items, keys))
  // The order of an answer is DynamoDB's own: anything but the one asked for shows who relies on that.
  const found: readonly StoredItem[] = keys
    .slice(0, processed)
    .toReversed()
    .flatMap((key) => {
      const entry = table.items.get(key)
      return entry ? [entry.item] : []
    })
  return { found: found.map(copyItemOut), unprocessed: keys.slice(processed).map((key) => ({ ...key })) }
}

const keysWithinLimit = (items: TableItems, keys: readonly ItemKey[]): number => {
  let bytes = 0
  for (const [at, key] of keys.entries()) {
    bytes += items.get(key)?.size ?? 0
    if (bytes > MAX_BYTES) return at
  }
  return keys.length
}
