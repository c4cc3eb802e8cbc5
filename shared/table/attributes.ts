import * as v from 'valibot'

const MAX_CACHED_NAMES = 1_000

/** `paidAt` is `paid_at`. Top level only. `fieldName` is the inverse (a test checks it). */
export const attributeName = withCache((field) =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
)

export type Item = Readonly<Record<string, unknown>>

/** An absent index attribute keeps the item out of that index; null or "" does not. */
export function toItem(record: object): Item {
  const item: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(record))
    if (value !== undefined) item[attributeName(field)] = value
  return item
}

/** `Object.fromEntries` with the names in the type of its answer. */
export function fieldsFrom<Name extends string, Value>(
  entries: Iterable<readonly [Name, Value]>,
): Readonly<Partial<Record<Name, Value>>> {
  const fields: Partial<Record<Name, Value>> = {}
  for (const [name, value] of entries) fields[name] = value
  return fields
}

export const fieldName = withCache((name) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
)

export function fromItem(item: Item): Item {
  const record: Record<string, unknown> = {}
  for (const attribute of Object.keys(item)) record[fieldName(attribute)] = item[attribute]
  return record
}

/** Every item has the same few names. */
function withCache(convert: (name: string) => string): (name: string) => string {
  const cache = new Map<string, string>()
  return (name) => {
    const cached = cache.get(name)
    if (cached !== undefined) return cached
    const converted = convert(name)
    if (cache.size < MAX_CACHED_NAMES) cache.set(name, converted)
    return converted
  }
}

export const FromItem = v.pipe(v.record(v.string(), v.unknown()), v.transform(fromItem))
