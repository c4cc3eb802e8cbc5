import type { JournalDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import type { Item } from '../table/attributes.ts'
import { entryKey, journalPk } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import type { Reads } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import type { Entry } from './entry.ts'
import { type EntryPosition, parseEntry } from './entry-store.ts'

/** The start is included, the end is not. */
export type Span = { readonly start: Timestamp; readonly end: Timestamp }

export type JournalRange = {
  readonly clientId: ClientId
  readonly span: Span
  readonly after?: EntryPosition | undefined
  readonly limit?: number
  readonly reads?: Reads
  /** Undefined for an entry that an audit cannot read. */
  readonly read?: (item: Item) => Entry | undefined
}

/** The most queries for one page: few entries are hidden from merchants. */
const MAX_QUERIES = 10

export async function readEntries(
  deps: JournalDeps,
  { limit, ...range }: JournalRange & { readonly limit: number },
  isWanted: (entry: Entry) => boolean,
): Promise<{ readonly entries: readonly Entry[]; readonly next: EntryPosition | undefined }> {
  const matches: Entry[] = []
  let queries = 0
  for await (const { entries, more } of entryPages(deps, { ...range, limit: limit + 1 })) {
    matches.push(...entries.filter(isWanted))
    if (matches.length > limit)
      return { entries: matches.slice(0, limit), next: matches[limit - 1] }
    const last = entries.at(-1)
    if (more && last && ++queries === MAX_QUERIES) return { entries: matches, next: last }
  }
  return { entries: matches, next: undefined }
}

export async function* entryPages(
  deps: JournalDeps,
  { clientId, span: { start, end }, after, limit, reads, read = parseEntry }: JournalRange,
): AsyncGenerator<{ readonly entries: readonly Entry[]; readonly more: boolean }> {
  if (end <= start) return
  const pages = queryPages(deps, {
    partition: [journalPk(clientId)],
    range: { between: [start, end] },
    reads,
    limit: limit ?? (deps.stage.historySteps ?? HISTORY_STEPS).rows,
    cursor: after && entryKey(clientId, after),
  })
  for await (const { items, cursor } of pages)
    yield { entries: items.flatMap((item) => read(item) ?? []), more: cursor !== undefined }
}
