import { csv } from './csv.ts'
import type { EntryDto } from './entry-dto-schema.ts'
import { ENTRY_COLUMNS } from './settlement-entries.ts'

type EntriesPage = { readonly entries: readonly EntryDto[]; readonly next: string | undefined }

export function entriesReply(
  { entries, next }: EntriesPage,
  {
    accept,
    pathOf,
  }: { readonly accept: string | undefined; readonly pathOf: (after: string) => string },
) {
  if (!asksForCsv(accept))
    return {
      status: 200,
      body: { data: entries, next: next ?? null, has_more: next !== undefined },
    }
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    ...(next !== undefined && { link: `<${pathOf(next)}>; rel="next"` }),
  }
  return { status: 200, body: csv(ENTRY_COLUMNS, entries), headers }
}

function asksForCsv(accept = ''): boolean {
  return /(?:^|,)\s*text\/csv\s*(?:[;,]|$)/i.test(accept)
}
