/** What the API answers of a client's journal, held against its raw entries. */
import { type RawItem, sum, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import type { HttpReply, HttpRequest } from '../world/lambda.ts'

/** Small, so that even short lists have several pages. */
export const PER_PAGE = 7

export type Ask = (functionName: string, asked?: HttpRequest) => Promise<HttpReply | undefined>

export type Shown = Readonly<Record<string, unknown>>

/** The problems of one after the other. */
export const gathered = async <Item>(
  items: Iterable<Item>,
  problemsOf: (item: Item) => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const problems: string[] = []
  for (const item of items) problems.push(...(await problemsOf(item)))
  return problems
}

const ENTRY_FIELDS =
  'type payment_id recredited_settlement_id external_reference method channel_code paid_at posted_at'.split(' ')

const AMOUNTS = {
  notional_minor: 'gross_minor',
  xendit_fee_minor: 'fee_minor',
  hexolus_markup_minor: 'markup_minor',
  client_net_minor: 'net_minor',
} as const

const SETTLED_SUMS = { ...AMOUNTS, xendit_fee_minor: 'provider_fees_minor' } as const

const isForClient = (entry: RawItem): boolean => Object.values(AMOUNTS).some((name) => Number(entry[name] ?? 0) !== 0)

const lineOf = (entry: RawItem, settlementId: unknown): Shown => ({
  id: entry['entry_id'],
  settlement_id: settlementId ?? null,
  ...Object.fromEntries(ENTRY_FIELDS.map((name) => [name, entry[name]])),
  ...Object.fromEntries(Object.entries(AMOUNTS).map(([name, of]) => [name, entry[of] ?? 0])),
})

/** All lines of a cursor's list, page by page. */
const linesOf = async (ask: Ask, functionName: string, asked: HttpRequest): Promise<readonly Shown[]> => {
  const lines: Shown[] = []
  let query: HttpRequest['query'] | undefined = { ...asked.query, limit: String(PER_PAGE) }
  while (query !== undefined) {
    const { data = [], next, has_more: hasMore }: Shown = (await ask(functionName, { ...asked, query }))?.body ?? {}
    lines.push(...(data as readonly Shown[]))
    query = hasMore === true ? { limit: String(PER_PAGE), after: String(next) } : undefined
  }
  return lines
}

const sameLines = (who: string, shown: readonly Shown[], stored: readonly Shown[]): readonly string[] => {
  if (shown.length !== stored.length) return [`${who} lists ${shown.length} entries, stored are ${stored.length}`]
  return stored.flatMap((line, at) =>
    Object.entries(line)
      .filter(([name, value]) => shown[at]?.[name] !== value)
      .map(
        ([name, value]) =>
          `${who}: ${name} of ${String(line['id'])} is ${String(shown[at]?.[name])}, is stored as ${String(value)}`,
      ),
  )
}

/** The entries of each settlement are those of its window and have its sums; the journal shows every entry once. */
export const entryProblems = async (
  ask: Ask,
  own: { readonly settlements: readonly RawItem[]; readonly entries: readonly RawItem[] },
): Promise<readonly string[]> => {
  const problems: string[] = []
  const settled = new Map<unknown, unknown>()
  for (const item of own.settlements) {
    const id = text(item, 'settlement_id')
    const entries = sweptBy(item, own.entries)
    for (const entry of entries) settled.set(entry['entry_id'], id)
    const lines = await linesOf(ask, 'api-list-settlement-payments', { id })
    const stored = entries.filter(isForClient).map((entry) => lineOf(entry, id))
    problems.push(...sameLines(`settlement ${id}`, lines, stored))
    const wrong = Object.entries(SETTLED_SUMS).filter(([field, attribute]) => sum(lines, field) !== item[attribute])
    if (wrong.length > 0) problems.push(`the entries of settlement ${id} have other sums: ${wrong.join(' ')}`)
  }
  const since = { query: { since: '2026-01-01T00:00:00.000Z' } }
  const journal = await linesOf(ask, 'api-list-balance-entries', since)
  const stored = own.entries.filter(isForClient).map((entry) => lineOf(entry, settled.get(entry['entry_id'])))
  return [...problems, ...sameLines('the journal', journal, stored)]
}
