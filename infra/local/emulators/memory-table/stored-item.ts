import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { fieldName, type Item } from '../../../../shared/table/attributes.ts'

/** A request that DynamoDB would refuse, with the SDK's name of the error. */
export class InvalidRequest extends Error {
  override readonly name = 'ValidationException'
}

/** An error of the simulation, never of the gateway. */
export class OutsideModel extends Error {
  override readonly name = 'OutsideModel'
}

/** Stored items are never changed in place. */
export type StoredItem = Readonly<Record<string, unknown>>

/** The copy passes through the SDK, which refuses and omits the same values as on AWS. */
export function storedItem(data: object): StoredItem {
  const item: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(data)) {
    if (isStoredUnchanged(value)) item[name] = value
    else
      Object.assign(item, unmarshall(marshall({ [name]: value }, { removeUndefinedValues: true })))
  }
  return item
}

/** Most values come back from the SDK unchanged, so they skip it. */
function isStoredUnchanged(value: unknown) {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (Number.isSafeInteger(value) && !Object.is(value, -0))
  )
}

/** A copy that the caller may change. */
export function recordOf(item: StoredItem): Item {
  const record: Record<string, unknown> = {}
  for (const name of Object.keys(item)) record[fieldName(name)] = valueCopy(item[name])
  return record
}

function valueCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Set) return new Set(value)
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  if (Array.isArray(value)) return value.map(valueCopy)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, valueCopy(member)]),
  )
}

const sizes = new WeakMap<object, number>()

/** By DynamoDB's published rules: names and values in UTF-8, containers with their overhead. */
export function itemSize(item: StoredItem) {
  const knownSize = sizes.get(item)
  if (knownSize !== undefined) return knownSize
  const size = membersSize(item, 0)
  sizes.set(item, size)
  return size
}

function membersSize(members: object, perElement: number) {
  let size = 0
  for (const [name, value] of Object.entries(members)) {
    if (name === '') throw new InvalidRequest('an attribute name is empty')
    size += Buffer.byteLength(name) + valueSize(value) + perElement
  }
  return size
}

const CONTAINER = 3
const PER_ELEMENT = 1

export function valueSize(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number') return numberSize(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.byteLength
  if (value instanceof Set) return [...value].reduce((size, member) => size + valueSize(member), 0)
  if (!Array.isArray(value)) return CONTAINER + membersSize(value, PER_ELEMENT)
  return value.reduce((size, element) => size + valueSize(element) + PER_ELEMENT, CONTAINER)
}

/** A byte for two significant digits, a byte for the exponent, and a byte for a minus sign. */
function numberSize(value: number) {
  const digits = String(Math.abs(value))
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0)
}
