import { OutsideModel } from './outside-model.ts'

/**
 * A value as the model keeps it. Nothing that is kept is ever changed in place, so items share what they have in
 * common, and a value crosses the border of the model only as a copy.
 */
export type Value = Scalar | readonly Value[] | ReadonlySet<string> | ReadonlySet<number> | ValueMap
export type Scalar = string | number | boolean | null
export type ValueMap = { readonly [name: string]: Value }
export type StoredItem = ValueMap

/** The type names that DynamoDB gives to the values. */
export type ValueType = 'S' | 'N' | 'BOOL' | 'NULL' | 'L' | 'M' | 'SS' | 'NS'

export const isSet = (value: Value): value is ReadonlySet<string> | ReadonlySet<number> => value instanceof Set

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value)

export const typeOf = (value: Value): ValueType => {
  if (typeof value === 'string') return 'S'
  if (typeof value === 'number') return 'N'
  if (typeof value === 'boolean') return 'BOOL'
  if (value === null) return 'NULL'
  if (isList(value)) return 'L'
  if (!isSet(value)) return 'M'
  const [first] = value
  return typeof first === 'number' ? 'NS' : 'SS'
}

/** What the document client does on the way in, with our options: undefined is left out, odd values are refused. */
export const copyIn = (data: unknown): Value => {
  if (typeof data === 'string' || typeof data === 'boolean' || data === null) return data
  if (typeof data === 'number') return plainNumber(data)
  if (Array.isArray(data)) return data.filter(isKept).map(copyIn)
  if (data instanceof Set) return copySetIn(data)
  if (typeof data === 'object' && isPlainObject(data)) return copyMapIn(data)
  if (data === undefined) {
    throw new Error('Pass options.removeUndefinedValues=true to remove undefined values from map/array/set.')
  }
  if (typeof data === 'bigint' || data instanceof Map || ArrayBuffer.isView(data)) {
    throw new OutsideModel('big integers, Maps and binary values are not modelled')
  }
  throw new Error(
    'Unsupported type passed. Pass options.convertClassInstanceToMap=true to marshall it as map attribute.',
  )
}

const isPlainObject = (data: object) => !('constructor' in data) || data.constructor?.name === 'Object'

const isKept = (value: unknown) => value !== undefined && typeof value !== 'function'

const plainNumber = (data: number): number => {
  if (!Number.isFinite(data)) throw new Error(`Special numeric value ${data} is not allowed`)
  if (Math.abs(data) > Number.MAX_SAFE_INTEGER) {
    throw new Error(`Number ${data} is outside the safe integers. Use NumberValue from @aws-sdk/lib-dynamodb.`)
  }
  // The table knows no negative zero.
  return data === 0 ? 0 : data
}

const copyMapIn = (data: object): ValueMap => {
  const copy: Record<string, Value> = {}
  for (const [name, value] of Object.entries(data)) if (isKept(value)) copy[name] = copyIn(value)
  return copy
}

const copySetIn = (data: ReadonlySet<unknown>): Value => {
  const members = [...data].filter((member) => member !== undefined)
  if (members.length === 0) throw new Error('Pass a non-empty set, or options.convertEmptyValues=true.')
  if (members.every((member) => typeof member === 'string')) return new Set(members)
  if (members.every((member) => typeof member === 'number')) return new Set(members.map(plainNumber))
  if (typeof members[0] === 'object')
    throw new Error('Only Number Set (NS), Binary Set (BS) or String Set (SS) are allowed.')
  throw new OutsideModel('a set has texts or numbers')
}

/** Brings a whole item or key in. */
export const copyItemIn = (data: object): StoredItem => copyMapIn(data)

export const copyOut = (value: Value): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (isList(value)) return value.map(copyOut)
  return isSet(value) ? new Set<unknown>(value) : copyItemOut(value)
}

export const copyItemOut = (item: StoredItem): Record<string, unknown> => {
  const copy: Record<string, unknown> = {}
  for (const name in item) {
    const value = item[name]
    if (value !== undefined) copy[name] = copyOut(value)
  }
  return copy
}
