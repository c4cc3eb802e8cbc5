import { expect } from 'vitest'
import type { EntryDto } from '../../../shared/settlement/statement/entry-dto-schema.ts'
import type { ApiResponse } from '../../support/api-event.ts'

type Query = Readonly<Record<string, string>>

/** Every page of a list of entries, from the first one on. */
export const entryPagesOf = async (ask: (query: Query) => Promise<ApiResponse>, limit: string) => {
  const pages: (readonly EntryDto[])[] = []
  let after: Query = {}
  for (let more = true; more; ) {
    const { status, body } = await ask({ limit, ...after })
    expect(status).toBe(200)
    pages.push(body['data'] as readonly EntryDto[])
    more = body['has_more'] === true
    expect(typeof body['next']).toBe(more ? 'string' : 'object')
    after = { after: String(body['next']) }
  }
  return pages
}

/** The sums of entries, under the names that a settlement has for them. */
export const sumsOfEntries = (rows: readonly EntryDto[]) => {
  const sum = (of: (row: EntryDto) => number) => rows.reduce((total, row) => total + of(row), 0)
  return {
    grossMinor: sum((row) => row.notional_minor),
    providerFeesMinor: sum((row) => row.xendit_fee_minor),
    markupMinor: sum((row) => row.hexolus_markup_minor),
    netMinor: sum((row) => row.client_net_minor),
  }
}

/** The `after` of the next page, in the Link header of a page of CSV. */
export const nextLinkOf = ({ headers }: ApiResponse): URL => {
  const [, link = ''] = /^<(.+)>; rel="next"$/.exec(String(headers['link'])) ?? []
  return new URL(link, 'https://api.example')
}
