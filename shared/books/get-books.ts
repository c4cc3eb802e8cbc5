import * as v from 'valibot'
import { readableLedger, storedSettlements } from '../audit/judged/client-books.ts'
import { mapInChunks } from '../chunks.ts'
import { walkClients } from '../client/client-register.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { addTotals, bookDay, totalsOf } from '../journal/day-totals.ts'
import { CLIENT_SIDES } from '../journal/entry.ts'
import { houseTotals } from '../journal/house-store.ts'
import { entryPages } from '../journal/read-entries.ts'
import { creditedOf } from '../ledger/ledger-store.ts'
import { MinorSchema, minor, plus, ZERO } from '../money.ts'
import { encodeCursor, readCursor } from '../page.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { csv } from '../settlement/statement/csv.ts'
import { sweptSpan } from '../settlement/statement/settlement-entries.ts'
import { attributeName } from '../table/attributes.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { addMs, DAY_MS, later, type Timestamp } from '../time.ts'
import { compare, type Difference, DifferenceSchema } from '../verdict/difference.ts'
import {
  addBooks,
  type Book,
  type BookLine,
  bookOfLines,
  bookOfPayout,
  FIGURES,
  figureOf,
  problemsIn,
  unequalSides,
  withDebts,
} from './book.ts'
import { type BookPeriod, bookPeriod, type PeriodInput, WALK_FIELDS } from './book-period.ts'
import { contradictions, controlDifferences } from './book-witnesses.ts'

type BooksDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'monotonicMs' | 'provider'>

type BooksInput = PeriodInput & {
  /** If absent: all clients and the house. */
  readonly clientId?: ClientId | undefined
  readonly providerBalance: boolean
}

const COLUMNS = ['client_id', ...Object.keys(FIGURES), 'balanced'] as const

/**
 * The books of days of Asia/Jakarta (design section 12). A run that cannot read all clients answers
 * a cursor with the sums so far, to which the next run adds. Throws 404 for an unknown client.
 */
export async function getBooks(deps: BooksDeps, input: BooksInput): Promise<object> {
  if (input.clientId === undefined) return booksOfAll(deps, input)
  const { clientId } = await requireClient(deps, input.clientId)
  const period = bookPeriod(deps, input)
  const checked = await witnessedBook(deps, clientId, period, await contradictions(deps))
  if (input.format === 'json') return toBooksDto(period, checked)
  return { csv: csv(COLUMNS, [lineOf(clientId, checked)]) }
}

const CLIENTS_AT_ONCE = 8

/** As many lines as fit into a Lambda's answer of 6 MB. */
const MAX_CLIENTS = 5_000

const Progress = v.strictObject({
  ...WALK_FIELDS,
  book: v.record(v.string(), MinorSchema),
  differences: v.array(v.strictObject(DifferenceSchema.entries)),
})

type CheckedBook = { readonly book: Book; readonly differences: readonly Difference[] }

const EMPTY_BOOK: CheckedBook = { book: {}, differences: [] }

async function booksOfAll(deps: BooksDeps, input: BooksInput): Promise<object> {
  const isCsv = input.format === 'csv'
  const progress = readCursor(Progress, input.cursor)
  const period = progress?.period ?? bookPeriod(deps, input)
  const lines: ReturnType<typeof lineOf>[] = []
  const contradicted = await contradictions(deps)
  let sum: CheckedBook = progress ?? EMPTY_BOOK
  const read = async (clientIds: readonly ClientId[]) => {
    const books = await mapInChunks(clientIds, CLIENTS_AT_ONCE, (clientId) =>
      witnessedBook(deps, clientId, period, contradicted),
    )
    lines.push(...books.map((checked, at) => lineOf(clientIds[at] ?? '', checked)))
    sum = joinBooks(sum, ...books)
  }
  const position = await walkClients(deps, progress?.position, {
    read,
    isFull: () => lines.length >= MAX_CLIENTS,
  })
  if (position) {
    const cursor = encodeCursor({ period, book: sum.book, differences: sum.differences, position })
    return {
      continuing: true,
      cursor,
      ...(isCsv && { csv: csv(COLUMNS, lines, progress !== undefined) }),
    }
  }
  // Money without a client: the totals that the house journal keeps by day.
  const totals = await houseTotals(deps, { fromDay: '0', untilDay: period.to })
  const house = joinBooks(checkLines(totals, period, { what: 'house.totals', id: 'house' }), {
    book: {},
    differences: [
      ...(await controlDifferences(deps, GATEWAY_OWNER)),
      ...(contradicted.get(GATEWAY_OWNER) ?? []),
    ],
  })
  if (isCsv)
    return { csv: csv(COLUMNS, [...lines, lineOf('house', house)], progress !== undefined) }
  return {
    ...toBooksDto(period, joinBooks(sum, house)),
    ...(input.providerBalance && { provider_balance: await askForBalance(deps) }),
  }
}

function lineOf(owner: string, checked: CheckedBook) {
  return {
    client_id: owner,
    ...Object.fromEntries(Object.keys(FIGURES).map((name) => [name, figureOf(checked.book, name)])),
    balanced: String(problemsOf(checked).length === 0),
  }
}

/** What does not add up in a book, and what its sources disagree on. */
function problemsOf({ book, differences }: CheckedBook): readonly Difference[] {
  return [...problemsIn(book), ...differences]
}

/** A book is balanced only while its accounts are as their controls, and its rows as they say. */
async function witnessedBook(
  deps: BooksDeps,
  clientId: ClientId,
  period: BookPeriod,
  contradicted: Awaited<ReturnType<typeof contradictions>>,
): Promise<CheckedBook> {
  const { book, differences } = await readClientBook(deps, clientId, period)
  const controls = await controlDifferences(deps, clientId)
  const rows = contradicted.get(clientId) ?? []
  return joinBooks({ book, differences }, { book: {}, differences: [...controls, ...rows] })
}

/** An entry is eligible at most a day after it was posted, on any clock. */
const FURTHEST_MS = 2 * DAY_MS

/**
 * The settlements' stored totals, and the entries after the last settlement (design section 12).
 */
export async function readClientBook(
  deps: Pick<Deps, 'table' | 'stage' | 'now'>,
  clientId: ClientId,
  period: BookPeriod,
): Promise<CheckedBook> {
  const ledger = await readableLedger(deps, clientId)
  if (ledger === undefined)
    return { book: {}, differences: compare('ledger', clientId, 'readable', 'unreadable') }
  const { settledUntil, lastSettlementId } = ledger.window
  let sum: CheckedBook = EMPTY_BOOK
  // Shards count the entries, re-credits apart, and the open payments.
  let openMinor: number = creditedOf(ledger)
  let start: Timestamp = settledUntil
  for await (const { stored, differences } of storedSettlements(deps, clientId, lastSettlementId)) {
    const books = await mapInChunks(stored, 1, ({ settlement }) =>
      bookOfSettlement(deps, settlement, period),
    )
    for (const { settlement } of stored)
      openMinor -= settlement.netMinor - settlement.recreditedMinor
    sum = joinBooks(sum, { book: {}, differences }, ...books)
    start = stored.reduce((last, { settlement }) => later(last, settlement.sweptUntil), start)
  }
  const span = { start, end: addMs(deps.now(), FURTHEST_MS) }
  for await (const { entries } of entryPages(deps, { clientId, span })) {
    for (const { netMinor } of entries) openMinor -= netMinor
    sum = joinBooks(
      sum,
      checkLines(totalsOf(entries), period, { what: 'entry.sides', id: clientId }),
    )
  }
  const book = { ...withDebts(sum.book), open: minor(openMinor) }
  return { book, differences: sum.differences }
}

/** The stored totals by type and day must add up to the settlement's sums. */
async function bookOfSettlement(
  deps: Pick<Deps, 'table' | 'stage'>,
  settlement: Settlement,
  period: BookPeriod,
): Promise<CheckedBook> {
  const { settlementId: id, totals, status, settledAt, netMinor } = settlement
  const isPaid = status === 'manual_paid' && settledAt !== undefined
  const lines = totals.every((total) => hasNoBorder(total, period))
    ? totals
    : await totalsByDay(deps, settlement)
  return joinBooks(checkLines(lines, period, { what: 'settlement.totals', id }), {
    book: isPaid ? bookOfPayout({ day: bookDay(settledAt), netMinor }, period) : {},
    differences: CLIENT_SIDES.flatMap((side) => {
      const found = totals.reduce((sum, total) => plus(sum, total[side]), ZERO)
      return compare(`settlement.totals.${attributeName(side)}`, id, settlement[side], found)
    }),
  })
}

/** Whether the period takes all days of a total, or none, and none after its end. */
function hasNoBorder(
  { day, lastDay = day }: Pick<BookLine, 'day' | 'lastDay'>,
  { from, to }: BookPeriod,
): boolean {
  return lastDay < from || day > to || (day >= from && lastDay <= to)
}

/** A settlement of very many days stores no total of each day. Its entries show them. */
async function totalsByDay(deps: Pick<Deps, 'table' | 'stage'>, settlement: Settlement) {
  const { clientId } = settlement
  let totals: Settlement['totals'] = []
  for await (const { entries } of entryPages(deps, { clientId, span: sweptSpan(settlement) }))
    totals = [...addTotals(totals, totalsOf(entries))]
  return totals
}

/** The most differences of an answer; an audit lists all. */
const MAX_DIFFERENCES = 20

function joinBooks(...books: readonly CheckedBook[]): CheckedBook {
  return {
    book: addBooks(...books.map(({ book }) => book)),
    differences: books.flatMap(({ differences }) => differences).slice(0, MAX_DIFFERENCES),
  }
}

function checkLines(
  lines: readonly BookLine[],
  period: BookPeriod,
  { what, id }: Pick<Difference, 'what' | 'id'>,
): CheckedBook {
  return {
    book: bookOfLines(lines, period),
    differences: lines.flatMap((line) =>
      unequalSides(line, what, `${id} ${line.day} ${line.type}`),
    ),
  }
}

function toBooksDto({ from, to }: BookPeriod, checked: CheckedBook) {
  const { book } = checked
  const differences = problemsOf(checked)
  return {
    from,
    to,
    figures: Object.entries(FIGURES).map(([name, source]) => ({
      name,
      amount_minor: figureOf(book, name),
      source,
    })),
    balanced: differences.length === 0,
    ...(differences.length > 0 && { differences }),
  }
}

/** Proves nothing, because the provider names no settlement time. */
async function askForBalance({ provider, now }: BooksDeps) {
  const answer = await provider.getBalance()
  if (answer.kind !== 'found')
    return { unanswered: answer.kind === 'unanswered' ? answer.reason : answer.kind }
  return { account: answer.value.account, amount_minor: answer.value.amountMinor, at: now() }
}
