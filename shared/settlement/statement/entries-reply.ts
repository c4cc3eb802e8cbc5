import { csv } from './csv.ts'
import type { EntryDto } from './entry-dto-schema.ts'
import { ENTRY_COLUMNS } from './settlement-entries.ts'

type EntriesPage = { readonly entries: readonly EntryDto[]; readonly next: string | undefined }

type Asked = { readonly accept: string | undefined; readonly pathOf: (after: string) => string }

export function entriesReply({ entries, next }: EntriesPage, asked: Asked) {
  return pageReply(next, asked, {
    json: () => ({ data: entries, next: next ?? null, has_more: next !== undefined }),
    csv: () => csv(ENTRY_COLUMNS, entries),
  })
}

/** A page as JSON. As CSV if the caller accepts it; then the `Link` header has the next page. */
export function pageReply(
  next: string | undefined,
  { accept, pathOf }: Asked,
  formats: { readonly json: () => object; readonly csv: () => string },
) {
  if (!asksForCsv(accept)) return { status: 200, body: formats.json() }
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    ...(next !== undefined && { link: `<${pathOf(next)}>; rel="next"` }),
  }
  return { status: 200, body: formats.csv(), headers }
}

/** CSV is asked for by its name, and preferred no less than JSON (RFC 9110, section 12.5.1). */
function asksForCsv(accept = '') {
  const preferences = new Map(accept.split(',').map(preferenceOf))
  const ofCsv = preferences.get('text/csv') ?? 0
  const ofJson = ['application/json', 'application/*', '*/*']
    .map((type) => preferences.get(type))
    .find((preference) => preference !== undefined)
  return ofCsv > 0 && ofCsv >= (ofJson ?? 0)
}

function preferenceOf(range: string): readonly [type: string, preference: number] {
  const [type = '', ...parameters] = range
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [type, quality === undefined ? 1 : Number(quality)]
}
