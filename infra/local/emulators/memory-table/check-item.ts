import type { Key } from '../../../../shared/table/keys.ts'
import { TABLE_SCHEMA } from '../../../../shared/table/schema.ts'
import { InvalidRequest, itemSize, type StoredItem, valueSize } from './stored-item.ts'

export type KeyValue = string | number

const MAX_PARTITION_BYTES = 2_048
const MAX_SORT_BYTES = 1_024
const MAX_ITEM_BYTES = 400 * 1_024
const TYPES: Readonly<Record<string, 'S' | 'N'>> = TABLE_SCHEMA.attributeTypes

/** Each index limits the total size of its key attributes. */
const INDEX_KEYS = Object.values(TABLE_SCHEMA.indexes).flatMap(({ partition, sort }) => [
  { attributes: partition, maxBytes: MAX_PARTITION_BYTES },
  { attributes: sort, maxBytes: MAX_SORT_BYTES },
])
const INDEX_ATTRIBUTES = [
  ...new Set(INDEX_KEYS.flatMap(({ attributes }): readonly string[] => attributes)),
]

/**
 * Throws if the table or an index cannot store the item. An index key is checked even if the item
 * lacks another key of that index. For an index key of a wrong type, returns the error: a
 * transaction reports a refused condition first.
 */
export function checkItem(item: StoredItem) {
  if (itemSize(item) > MAX_ITEM_BYTES) throw new InvalidRequest('the item is too large')
  for (const attribute of INDEX_ATTRIBUTES) {
    const value = item[attribute]
    const fits = isOfType(attribute, value)
    if (value === undefined || (fits && value !== '')) continue
    const fault = new InvalidRequest(`the index key ${attribute} has a wrong or empty value`)
    if (!fits && (typeof value === 'string' || typeof value === 'number')) return fault
    throw fault
  }
  for (const { attributes, maxBytes } of INDEX_KEYS) {
    const values = attributes.flatMap((attribute) => item[attribute] ?? [])
    if (values.reduce<number>((bytes, value) => bytes + valueSize(value), 0) > maxBytes) {
      throw new InvalidRequest(`${attributes.join(' and ')} are together too long`)
    }
  }
  return undefined
}

function isOfType(attribute: string, value: unknown): value is KeyValue {
  return typeof value === (TYPES[attribute] === 'N' ? 'number' : 'string')
}

export function keyValue(attribute: string, value: unknown) {
  if (isOfType(attribute, value) && value !== '') return value
  throw new InvalidRequest(`the key attribute ${attribute} has a wrong or empty value`)
}

export function checkKey(key: Partial<Key>) {
  const { pk, sk, ...otherAttributes } = key
  if (Object.keys(otherAttributes).length > 0)
    throw new InvalidRequest('a key has other attributes than pk and sk')
  if (
    valueSize(keyValue('pk', pk)) > MAX_PARTITION_BYTES ||
    valueSize(keyValue('sk', sk)) > MAX_SORT_BYTES
  ) {
    throw new InvalidRequest('a key is too long')
  }
}
