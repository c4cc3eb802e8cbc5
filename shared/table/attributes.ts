import * as v from 'valibot'

const NAMES_KEPT = 1_000

/** A field's attribute: `paidAt` is `paid_at`. Top level only. `fieldName` is the inverse (a test checks it). */
export const attributeName = cached((field) =>
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

/** Caches conversions, because every item has the same few names. */
function cached(spell: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const spelled = spell(name)
    if (known.size < NAMES_KEPT) known.set(name, spelled)
    return spelled
  }
}

export const fieldName = cached((name) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
)

export function fromItem(item: Item): Item {
  const record: Record<string, unknown> = {}
  for (const attribute of Object.keys(item)) record[fieldName(attribute)] = item[attribute]
  return record
}

/** An object with the table's names, such as the body of a message, under the names of fields. */
export const FromItem = v.pipe(v.record(v.string(), v.unknown()), v.transform(fromItem))
