import type { Item } from './attributes.ts'
import type { Key } from './keys.ts'
import { all, equals, isNew, put, type Step } from './step.ts'

/** Refused unless the row is still as it was found; undefined: not there. */
export function replaceRow(key: Key, record: object, found: Item | undefined): Step {
  const fields = Object.entries(found ?? {}).filter(([field]) => field !== 'pk' && field !== 'sk')
  const isAsFound = all(...fields.map(([field, value]) => equals(field, value)))
  return put(key, record, found === undefined ? isNew : isAsFound)
}
