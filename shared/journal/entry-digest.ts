import { createHash } from 'node:crypto'
import type { Entry } from './entry.ts'

/** Every field with a value, in the order of names: the same entry has the same text everywhere. */
export const entryText = (entry: Entry): string =>
  JSON.stringify(
    Object.entries(entry)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

/** The digest over one block and over the digest before it. A block without entries leaves that as it is. */
export const digestBlock = (before: string, entries: readonly Entry[]): string => {
  if (entries.length === 0) return before
  const hash = createHash('sha256').update(before)
  for (const entry of entries) hash.update('\n').update(entryText(entry))
  return hash.digest('hex')
}
