import { isList, isSet, type StoredItem, type Value, type ValueMap } from './attribute-value.ts'

const CONTAINER = 3
const PER_ELEMENT = 1

/** Bytes by DynamoDB's published rules: names and values in UTF-8, containers with their overhead. */
export const itemSize = (item: StoredItem): number => mapSize(item, 0)

const mapSize = (map: ValueMap, perElement: number): number => {
  let size = 0
  for (const name in map) {
    const value = map[name]
    if (value !== undefined) size += Buffer.byteLength(name) + valueSize(value) + perElement
  }
  return size
}

export const valueSize = (value: Value): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number') return numberSize(value)
  if (typeof value === 'boolean' || value === null) return 1
  if (isList(value)) return value.reduce<number>((size, one) => size + valueSize(one) + PER_ELEMENT, CONTAINER)
  if (!isSet(value)) return CONTAINER + mapSize(value, PER_ELEMENT)
  let size = 0
  for (const member of value) size += valueSize(member)
  return size
}

/** A byte for two significant digits, one for the exponent and one for a minus sign. */
const numberSize = (value: number): number => {
  const digits = String(Math.abs(value))
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0)
}
