const NAMES_KEPT = 1_000

/** The same few names are spelled for every item. */
const kept = (spell: (name: string) => string): ((name: string) => string) => {
  const known = new Map<string, string>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const spelled = spell(name)
    if (known.size < NAMES_KEPT) known.set(name, spelled)
    return spelled
  }
}

/**
 * One spelling rule between code and table: `paidAt` in code is `paid_at` in the table. Top level only; nested values
 * are stored as they are. The two functions undo each other for every name in use (a property test holds it).
 */
export const attributeName = kept((field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

export const fieldName = kept((attribute) =>
  attribute.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
)

export type Item = Readonly<Record<string, unknown>>

/** Omits undefined fields: an absent index attribute keeps the item out of that index, null or "" would not. */
export const toItem = (record: object): Item => {
  const item: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(record)) if (value !== undefined) item[attributeName(field)] = value
  return item
}

export const fromItem = (item: Item): Item => {
  const record: Record<string, unknown> = {}
  for (const attribute of Object.keys(item)) record[fieldName(attribute)] = item[attribute]
  return record
}
