import { copyItemIn, isList, isSet, type StoredItem, typeOf, type Value } from './attribute-value.ts'
import { itemSize, valueSize } from './item-size.ts'
import type { ItemKey } from './table-change.ts'
import { itemInvalid, validationError } from './table-errors.ts'
import type { TableShape } from './table-shape.ts'

export const MAX_PARTITION_KEY_BYTES = 2_048
export const MAX_SORT_KEY_BYTES = 1_024
const MAX_ITEM_BYTES = 400 * 1_024

export type ItemRules = {
  /** Copies a key in. Throws a validation error when it is not exactly the table's key. */
  readonly keyIn: (key: object | undefined) => ItemKey
  /** Copies an item in, which must have a key and fit the table and its indexes. */
  readonly itemIn: (item: object | undefined) => {
    readonly key: ItemKey
    readonly item: StoredItem
    readonly size: number
  }
  /** Refuses what an index could not take, and what is too big. Answers the size. */
  readonly checkStored: (item: StoredItem) => number
  readonly isKeyAttribute: (attribute: string) => boolean
}

export const itemRules = (shape: TableShape): ItemRules => {
  const checkIndexes = indexChecks(shape)
  const keyOf = ({ pk, sk }: StoredItem): ItemKey => {
    if (pk === undefined || sk === undefined) throw validationError('One of the required keys was not given a value')
    if (pk === '' || sk === '') throw validationError(`${NOT_EMPTY} Key: ${pk === '' ? 'pk' : 'sk'}`)
    return { pk: keyText(pk, MAX_PARTITION_KEY_BYTES), sk: keyText(sk, MAX_SORT_KEY_BYTES) }
  }
  const checkStored = (item: StoredItem) => {
    const size = itemSize(item)
    if (size > MAX_ITEM_BYTES) throw validationError('Item size has exceeded the maximum allowed size')
    checkIndexes(item)
    return size
  }
  return {
    keyIn: (key) => {
      const copied = copyItemIn(key ?? {})
      if (Object.keys(copied).length > 2) throw validationError('The number of conditions on the keys is invalid')
      return keyOf(copied)
    },
    itemIn: (item) => {
      const copied = copyItemIn(item ?? {})
      refuseEmptyNames(copied)
      const size = checkStored(copied)
      return { key: keyOf(copied), item: copied, size }
    },
    checkStored,
    isKeyAttribute: (attribute) => attribute === shape.partitionKey || attribute === shape.sortKey,
  }
}

const NOT_EMPTY =
  'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value.'

const keyText = (value: Value, maxBytes: number): string => {
  if (typeof value !== 'string') throw itemInvalid('One or more parameter values were invalid: Type mismatch for key')
  if (Buffer.byteLength(value) > maxBytes) {
    throw itemInvalid(
      'Hash primary key values must be under 2048 bytes, and range primary key values must be under 1024 bytes',
    )
  }
  return value
}

/** Names are never empty, not even those inside of a value. */
export const refuseEmptyNames = (value: Value): void => {
  if (typeof value !== 'object' || value === null || isSet(value)) return
  if (isList(value)) return value.forEach(refuseEmptyNames)
  for (const name in value) {
    if (name === '') throw validationError('Empty attribute name')
    const inner = value[name]
    if (inner !== undefined) refuseEmptyNames(inner)
  }
}

/** Checks the attributes that are keys of an index, whether or not the item has all of them and so is in the index. */
const indexChecks = ({ attributeTypes, indexes }: TableShape) => {
  const groups = Object.entries(indexes).flatMap(([name, { partition, sort }]) => [
    { name, attributes: partition, maxBytes: MAX_PARTITION_KEY_BYTES },
    { name, attributes: sort, maxBytes: MAX_SORT_KEY_BYTES },
  ])
  const attributes = [...new Set(groups.flatMap((group) => group.attributes))]
  return (item: StoredItem): void => {
    for (const attribute of attributes) {
      const value = item[attribute]
      if (value !== undefined) checkIndexKey(attribute, value, attributeTypes[attribute])
    }
    for (const { name, attributes: together, maxBytes } of groups) {
      let bytes = 0
      for (const attribute of together) {
        const value = item[attribute]
        if (value !== undefined) bytes += valueSize(value)
      }
      if (bytes > maxBytes) {
        throw validationError(`Aggregate size for key attributes of index ${name} has exceeded limit ${maxBytes} bytes`)
      }
    }
  }
}

/** The first attribute that cannot be a key decides what a transaction says: the item is at fault, or the request. */
const checkIndexKey = (attribute: string, value: Value, type: 'S' | 'N' | undefined): void => {
  if (typeof value !== 'string' && typeof value !== 'number') throw validationError('Invalid attribute value type')
  if (typeOf(value) !== type) {
    throw itemInvalid(`One or more parameter values were invalid: Type mismatch for Index Key ${attribute}`)
  }
  if (value === '') {
    throw validationError(`${NOT_EMPTY} A value specified for a secondary index key is not supported: ${attribute}`)
  }
}
