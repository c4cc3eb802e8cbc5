import type { Deps } from '../deps.ts'
import type { Entry } from './entry.ts'
import { type EntryPosition, entryPages, type JournalRange } from './entry-store.ts'

export type ReadEntries = {
  readonly entries: readonly Entry[]
  /** The last entry given out; undefined when there is none after it. */
  readonly next: EntryPosition | undefined
}

/** The most queries for one page: few rows are hidden from merchants. */
const MOST_QUERIES = 10

/**
 * Up to `limit` matching entries, in the order of the journal. A page costs its own entries and one more, which shows
 * whether it is the last.
 */
export const readEntries = async (
  deps: Pick<Deps, 'table' | 'stage'>,
  { limit, ...range }: JournalRange & { readonly limit: number },
  isWanted: (entry: Entry) => boolean,
): Promise<ReadEntries> => {
  const found: Entry[] = []
  let queries = 0
  for await (const { entries, more } of entryPages(deps, { ...range, limit: limit + 1 })) {
    found.push(...entries.filter(isWanted))
    if (found.length > limit) return { entries: found.slice(0, limit), next: found[limit - 1] }
    const last = entries.at(-1)
    if (more && last && ++queries === MOST_QUERIES) return { entries: found, next: last }
  }
  return { entries: found, next: undefined }
}
