import type { Item } from './attributes.ts'
import type { Key } from './keys.ts'
import { all, isNew, put, type Step, unchanged } from './step.ts'

/**
 * Refused unless the row is still as it was found; undefined: not there. `record` and `entries`
 * name fields that it may have got.
 */
export function replaceRow(key: Key, record: object, found: Item | undefined, entries = {}): Step {
  const { pk: _, sk: __, ...fields }: Item = { ...entries, ...record, ...found }
  const isAsFound = Object.keys(fields).map((field) => unchanged(field, found?.[field]))
  return put(key, record, found === undefined ? isNew : all(...isAsFound))
}
