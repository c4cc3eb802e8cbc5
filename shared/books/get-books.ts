import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { houseTotals } from '../journal/house-store.ts'
import { MinorSchema } from '../money.ts'
import { encodeCursor } from '../page.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../provider/provider.ts'
import { csvHead, csvRows } from '../settlement/statement/csv.ts'
import { type Difference, DifferenceSchema, differs } from '../verdict/difference.ts'
import { FIGURE_NAMES, figureOf, shownFigures, trialBalance } from './book.ts'
import { type BookPeriod, bookPeriod } from './book-period.ts'
import { type CheckedBook, checkedLines, joined, NOTHING, readClientBook } from './read-client-book.ts'
import { progressIn, WALK_FIELDS, walkClients } from './walk-clients.ts'

type BooksDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'monotonicMs' | 'provider'>

type BooksInput = {
  /** Without it: all clients and the house. */
  readonly clientId?: ClientId | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly format: 'json' | 'csv'
  readonly providerBalance: boolean
  readonly cursor?: string | undefined
}

/** The trial balance of a book, and what its sources disagree on. */
const problemsOf = ({ book, differences }: CheckedBook): readonly Difference[] => {
  const { left, right } = trialBalance(book)
  return [...differs('trial balance', 'provider + bank', right, left), ...differences]
}

const toBooksDto = ({ from, to }: BookPeriod, checked: CheckedBook) => {
  const differences = problemsOf(checked)
  return {
    from,
    to,
    figures: shownFigures(checked.book),
    balanced: differences.length === 0,
    ...(differences.length > 0 && { differences }),
  }
}

const COLUMNS = ['client_id', ...FIGURE_NAMES, 'balanced'] as const

const lineOf = (name: string, checked: CheckedBook) => ({
  client_id: name,
  ...Object.fromEntries(FIGURE_NAMES.map((figure) => [figure, figureOf(checked.book, figure)])),
  balanced: String(problemsOf(checked).length === 0),
})

type Line = ReturnType<typeof lineOf>

/** Money without a client: the totals that the house journal keeps by day. */
const readHouseBook = async (deps: BooksDeps, period: BookPeriod): Promise<CheckedBook> =>
  checkedLines(await houseTotals(deps, { fromDay: '0', untilDay: period.to }), period, {
    what: 'house.totals',
    id: 'house',
  })

/** The provider's own balance. It proves nothing, because the provider names no settlement time. */
const askForBalance = async ({ provider, now }: BooksDeps) => {
  const answer = await provider.getBalance(PROVIDER_READ_TIMEOUT_MS)
  if (answer.kind === 'found') {
    const { account, amountMinor } = answer.value
    return { account, amount_minor: amountMinor, at: now() }
  }
  return { unanswered: answer.kind === 'unanswered' ? answer.reason : answer.kind }
}

const CLIENTS_AT_ONCE = 8

/** As many lines as fit into a Lambda's answer of 6 MB. */
const MOST_CLIENTS = 5_000

/** The content of the cursor: the sums so far. */
const Progress = v.strictObject({
  ...WALK_FIELDS,
  book: v.record(v.string(), MinorSchema),
  differences: v.array(v.strictObject(DifferenceSchema.entries)),
})

const booksOfAll = async (deps: BooksDeps, input: BooksInput): Promise<object> => {
  const isCsv = input.format === 'csv'
  const kept = input.cursor === undefined ? undefined : progressIn(Progress, input.cursor)
  const period = kept?.period ?? bookPeriod(deps, input)
  const lines: Line[] = []
  let sum: CheckedBook = kept ?? NOTHING
  const read = async (clientIds: readonly ClientId[]) => {
    const books = await mapInChunks(clientIds, CLIENTS_AT_ONCE, (clientId) => readClientBook(deps, clientId, period))
    lines.push(...books.map((checked, at) => lineOf(clientIds[at] ?? '', checked)))
    sum = joined(sum, ...books)
  }
  const position = await walkClients(deps, kept?.position, { read, isFull: () => lines.length >= MOST_CLIENTS })
  const csvOf = (some: readonly Line[]) => (kept ? '' : csvHead(COLUMNS)) + csvRows(COLUMNS, some)
  if (position) {
    const cursor = encodeCursor({ period, book: sum.book, differences: sum.differences, position })
    return { continuing: true, cursor, ...(isCsv && { csv: csvOf(lines) }) }
  }
  const house = await readHouseBook(deps, period)
  if (isCsv) return { csv: csvOf([...lines, lineOf('house', house)]) }
  return {
    ...toBooksDto(period, joined(sum, house)),
    ...(input.providerBalance && { provider_balance: await askForBalance(deps) }),
  }
}

/**
 * The books of a client, or of all clients and the house, for days of Asia/Jakarta (design sections 7 and 12). Changes
 * nothing. A run that cannot read all clients answers a cursor with the sums so far. The next run adds to them, and the
 * last one answers the total. Throws 404 for an unknown client.
 */
export const getBooks = async (deps: BooksDeps, input: BooksInput): Promise<object> => {
  if (input.clientId === undefined) return booksOfAll(deps, input)
  const { clientId } = await requireClient(deps, input.clientId)
  const period = bookPeriod(deps, input)
  const checked = await readClientBook(deps, clientId, period)
  if (input.format === 'json') return toBooksDto(period, checked)
  return { csv: csvHead(COLUMNS) + csvRows(COLUMNS, [lineOf(clientId, checked)]) }
}
