import { createHash } from 'node:crypto'
import type { Entry } from './entry.ts'

/** Every field with a value, in the order of names: equal entries have equal texts. */
export const entryText = (entry: Entry): string =>
  JSON.stringify(
    Object.entries(entry)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

/** The digest over one block and the previous digest. An empty block leaves it unchanged. */
export const digestBlock = (before: string, entries: readonly Entry[]): string => {
  if (entries.length === 0) return before
  const hash = createHash('sha256').update(before)
  for (const entry of entries) hash.update('\n').update(entryText(entry))
  return hash.digest('hex')
}
