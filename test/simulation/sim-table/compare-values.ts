import { isList, isSet, type StoredItem, type Value, type ValueMap } from './attribute-value.ts'

/** Deep equality as DynamoDB has it: lists in order, sets and maps in any. */
export const equalValues = (a: Value | undefined, b: Value | undefined): boolean => {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isList(a)) return isList(b) && a.length === b.length && a.every((value, at) => equalValues(value, b[at]))
  if (isSet(a)) return isSet(b) && a.size === b.size && a.isSubsetOf(b)
  return !isList(b) && !isSet(b) && equalMaps(a, b)
}

const equalMaps = (a: ValueMap, b: ValueMap): boolean => {
  let left = 0
  for (const name in a) {
    if (!Object.hasOwn(b, name) || !equalValues(a[name], b[name])) return false
    left++
  }
  for (const _ in b) left--
  return left === 0
}

export const equalItems = (a: StoredItem | undefined, b: StoredItem | undefined): boolean => equalValues(a, b)

const SURROGATES = 0xd8_00

/** Order of UTF-8 bytes, in which DynamoDB sorts. It differs from JavaScript's only where surrogate pairs come in. */
export const compareStrings = (a: string, b: string): number => {
  if (a === b) return 0
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return byteOrder(left) - byteOrder(right)
  }
  return a.length - b.length
}

/** A surrogate stands for a character behind all that need no pair. */
const byteOrder = (unit: number) => (unit >= SURROGATES && unit < 0xe0_00 ? unit + 0x1_00_00 : unit)

/** Order of two keys' attributes, which have the same type. */
export const compareScalars = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : compareStrings(String(a), String(b))

/** Undefined when the two have no order: different types, or types without one. */
export const orderOf = (a: Value | undefined, b: Value | undefined): number | undefined => {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return undefined
}
