import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { type ClientId, ClientIdSchema } from '../ids.ts'
import { BookDaySchema } from '../journal/day-totals.ts'
import { houseTotals } from '../journal/house-store.ts'
import { MinorSchema } from '../money.ts'
import { CURSOR_JSON, encodeCursor } from '../page.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../provider/provider.ts'
import { csvHead, csvRows } from '../settlement/statement/csv.ts'
import { TimestampSchema } from '../time.ts'
import { type Difference, differs } from '../verdict/difference.ts'
import { FIGURE_NAMES, figureOf, shownFigures, trialBalance } from './book.ts'
import { type BookPeriod, bookPeriod } from './book-period.ts'
import { type ClientPosition, clientsAfter } from './clients-after.ts'
import { type CheckedBook, checkedLines, joined, NOTHING, readClientBook } from './read-client-book.ts'

type BooksDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'monotonicMs' | 'provider'>

export type BooksInput = {
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

/** A run begins no further page of clients after this time: the function has a third more. */
const RUN_MS = 200_000

const CLIENTS_AT_ONCE = 8

/** As many lines as fit into a Lambda's answer of 6 MB. */
const MOST_CLIENTS = 5_000

type Run = CheckedBook & {
  readonly lines: readonly Line[]
  /** The last client of this run; undefined when it was the last client. */
  readonly position: ClientPosition | undefined
}

/** The books of as many clients as one run reads, in the order of their registration. */
const readClients = async (
  deps: BooksDeps,
  period: BookPeriod,
  from: CheckedBook & { readonly position: ClientPosition | undefined },
): Promise<Run> => {
  const endsAtMs = deps.monotonicMs() + RUN_MS
  const lines: Line[] = []
  let sum: CheckedBook = from
  let { position } = from
  do {
    const page = await clientsAfter(deps, position)
    const books = await mapInChunks(page.clientIds, CLIENTS_AT_ONCE, (clientId) =>
      readClientBook(deps, clientId, period),
    )
    lines.push(...books.map((checked, at) => lineOf(page.clientIds[at] ?? '', checked)))
    sum = joined(sum, ...books)
    position = page.next
  } while (position && lines.length < MOST_CLIENTS && deps.monotonicMs() < endsAtMs)
  return { ...sum, lines, position }
}

const booksOfAll = async (deps: BooksDeps, input: BooksInput): Promise<object> => {
  const isCsv = input.format === 'csv'
  const kept = input.cursor === undefined ? undefined : progressIn(input.cursor)
  const { period, ...from } = kept ?? { period: bookPeriod(deps, input), ...NOTHING, position: undefined }
  const { lines, position, book, differences } = await readClients(deps, period, from)
  const csvOf = (some: readonly Line[]) => (kept ? '' : csvHead(COLUMNS)) + csvRows(COLUMNS, some)
  if (position) {
    const cursor = booksCursor({ period, book, differences: [...differences], position })
    return { continuing: true, cursor, ...(isCsv && { csv: csvOf(lines) }) }
  }
  const house = await readHouseBook(deps, period)
  if (isCsv) return { csv: csvOf([...lines, lineOf('house', house)]) }
  return {
    ...toBooksDto(period, joined({ book, differences }, house)),
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

/** The progress of the books of all clients, with their sums. Nothing is stored in the table. */
const Progress = v.strictObject({
  period: v.strictObject({ from: BookDaySchema, to: BookDaySchema }),
  book: v.record(v.string(), MinorSchema),
  differences: v.array(
    v.strictObject({
      what: v.string(),
      id: v.string(),
      expected: v.nullable(v.union([v.string(), v.number()])),
      found: v.nullable(v.union([v.string(), v.number()])),
    }),
  ),
  position: v.strictObject({ clientId: ClientIdSchema, createdAt: TimestampSchema }),
})

export const booksCursor = (progress: v.InferOutput<typeof Progress>): string => encodeCursor(progress)

/** The content of a cursor. Throws 422 for any other text. */
export const progressIn = (cursor: string): v.InferOutput<typeof Progress> => {
  const parsed = v.safeParse(v.pipe(CURSOR_JSON, Progress), cursor)
  if (parsed.success) return parsed.output
  const reason = 'must be the cursor of the run before'
  throw invalid(`cursor: ${reason}`, { cursor: [reason] }, 'Leave it out to begin with the first client.')
}
