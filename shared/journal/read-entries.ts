import type { Deps } from '../deps.ts'
import type { Entry } from './entry.ts'
import { type EntryPosition, entryPages, type JournalRange } from './entry-store.ts'

export type ReadEntries = {
  readonly entries: readonly Entry[]
  /** The last entry given out; undefined when there is none after it. */
  readonly next: EntryPosition | undefined
}

/** So many queries at most bring one page: rows that are not shown to merchants are few. */
const MOST_QUERIES = 10

/** Up to `limit` entries that are wanted, in the order of the journal. A page costs its own entries. */
export const readEntries = async (
  deps: Pick<Deps, 'table' | 'stage'>,
  range: JournalRange & { readonly limit: number },
  isWanted: (entry: Entry) => boolean,
): Promise<ReadEntries> => {
  const found: Entry[] = []
  let queries = 0
  for await (const { entries, more } of entryPages(deps, range)) {
    for (const [at, entry] of entries.entries()) {
      if (isWanted(entry)) found.push(entry)
      const isLast = at === entries.length - 1
      if (found.length === range.limit) return { entries: found, next: isLast && !more ? undefined : entry }
      if (isLast && more && ++queries === MOST_QUERIES) return { entries: found, next: entry }
    }
  }
  return { entries: found, next: undefined }
}
