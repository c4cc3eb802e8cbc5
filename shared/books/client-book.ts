import { readingInto } from '../audit/judged/audit-entries.ts'
import { readableLedger, storedSettlements } from '../audit/judged/client-books.ts'
import type { Deps, JournalDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { bookDay, FURTHEST_ELIGIBLE_MS, totalsOf } from '../journal/day-totals.ts'
import { CLIENT_SIDES } from '../journal/entry.ts'
import { entryPages, type JournalRange } from '../journal/read-entries.ts'
import { creditedOf } from '../ledger/ledger-store.ts'
import type { Window } from '../ledger/window-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { sweptSpan } from '../settlement/statement/settlement-entries.ts'
import { attributeName } from '../table/attributes.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import { addMs, later, type Timestamp } from '../time.ts'
import { compare, type Difference, tryToMake, unreadableRow } from '../verdict/difference.ts'
import {
  addBooks,
  type Book,
  type BookLine,
  bookOfLines,
  bookOfPayout,
  unequalSides,
  withDebts,
} from './book.ts'
import type { BookPeriod } from './book-period.ts'

export type CheckedBook = { readonly book: Book; readonly differences: readonly Difference[] }

export const EMPTY_BOOK: CheckedBook = { book: {}, differences: [] }

type BookDeps = Pick<Deps, 'table' | 'stage' | 'now'>

/**
 * The settlements' stored totals, and the entries after the last settlement (design section 12).
 */
export async function readClientBook(
  deps: BookDeps,
  clientId: ClientId,
  period: BookPeriod,
): Promise<CheckedBook> {
  const ledger = await readableLedger(deps, clientId)
  if (ledger === undefined) return { book: {}, differences: unreadableRow('ledger', clientId) }
  const settled = await bookOfSettlements(deps, clientId, ledger.window, period)
  let sum = settled.checked
  // Shards count the entries, re-credits apart, and the open payments.
  let openMinor = creditedOf(ledger) - settled.sweptMinor
  const span = { start: settled.sweptUntil, end: addMs(deps.now(), FURTHEST_ELIGIBLE_MS) }
  for await (const { entries, lines, differences } of readablePages(deps, { clientId, span })) {
    for (const { netMinor } of entries) openMinor -= netMinor
    const checked = checkLines(lines, period, { what: 'entry.sides', id: clientId })
    sum = joinBooks(sum, checked, { differences })
  }
  const book = { ...withDebts(sum.book), open: openMinor }
  // A shard that cannot be read is not in `open`.
  const shards = compare('ledger.shards', clientId, LEDGER_SHARDS, ledger.shards.length)
  return { book, differences: [...shards, ...sum.differences] }
}

/**
 * An entry that cannot be read is a difference, and hides no other entry. Entries whose sums exceed
 * the range of money are lines of their own.
 */
async function* readablePages(deps: JournalDeps, range: Pick<JournalRange, 'clientId' | 'span'>) {
  const unreadable: Difference[] = []
  const { read } = readingInto(unreadable)
  for await (const { entries } of entryPages(deps, { ...range, read })) {
    const lines =
      tryToMake(() => totalsOf(entries)) ?? entries.flatMap((entry) => totalsOf([entry]))
    yield { entries, lines, differences: unreadable.splice(0) }
  }
}

/**
 * The book of the settlements by their stored totals, with what they swept, and where the entries
 * after them begin. `until`: later windows do not count. `note` is called with each settlement.
 */
export async function bookOfSettlements(
  deps: JournalDeps,
  clientId: ClientId,
  { settledUntil, lastSettlementId }: Pick<Window, 'settledUntil' | 'lastSettlementId'>,
  period: BookPeriod,
  some: { readonly until?: Timestamp; readonly note?: (settlement: Settlement) => void } = {},
) {
  let checked = EMPTY_BOOK
  let sweptMinor = 0
  let sweptUntil = settledUntil
  for await (const { stored, differences } of storedSettlements(deps, clientId, lastSettlementId)) {
    const settlements = stored.flatMap(({ settlement }) =>
      some.until !== undefined && settlement.sweptFrom >= some.until ? [] : settlement,
    )
    const books = await Array.fromAsync(settlements, (settlement) =>
      bookOfSettlement(deps, settlement, period),
    )
    checked = joinBooks(checked, { differences }, ...books)
    for (const settlement of settlements) {
      sweptMinor += settlement.netMinor - settlement.recreditedMinor
      sweptUntil = later(sweptUntil, settlement.sweptUntil)
      some.note?.(settlement)
    }
  }
  return { checked, sweptMinor, sweptUntil }
}

async function bookOfSettlement(deps: JournalDeps, settlement: Settlement, period: BookPeriod) {
  const { settlementId: id, totals, netMinor } = settlement
  const day = paidDayOf(settlement)
  const { lines, unreadable } = totals.every((total) => hasNoBorder(total, period))
    ? { lines: totals, unreadable: [] }
    : await totalsByDay(deps, settlement)
  return joinBooks(checkLines(lines, period, { what: 'settlement.totals', id }), {
    book: day === undefined ? {} : bookOfPayout({ day, netMinor }, period),
    differences: [
      ...unreadable,
      ...CLIENT_SIDES.flatMap((side) => {
        const found = totals.reduce((sum, total) => sum + total[side], 0)
        return compare(`settlement.totals.${attributeName(side)}`, id, settlement[side], found)
      }),
    ],
  })
}

export function paidDayOf({ status, settledAt }: Pick<Settlement, 'status' | 'settledAt'>) {
  return status === 'manual_paid' && settledAt !== undefined ? bookDay(settledAt) : undefined
}

/** Whether the period takes all days of a total, or none, and none after its end. */
function hasNoBorder(
  { day, lastDay = day }: Pick<BookLine, 'day' | 'lastDay'>,
  { from, to }: BookPeriod,
) {
  return lastDay < from || day > to || (day >= from && lastDay <= to)
}

/** A settlement of very many days stores no total of each day. Its entries show them. */
async function totalsByDay(deps: JournalDeps, settlement: Settlement) {
  const { clientId } = settlement
  const lines: Settlement['totals'] = []
  const unreadable: Difference[] = []
  const span = sweptSpan(settlement)
  for await (const page of readablePages(deps, { clientId, span })) {
    lines.push(...page.lines)
    unreadable.push(...page.differences)
  }
  return { lines, unreadable }
}

/** The most differences of an answer; an audit lists all. */
const MAX_DIFFERENCES = 20

export function joinBooks(...books: readonly Partial<CheckedBook>[]): CheckedBook {
  return {
    book: addBooks(...books.map(({ book = {} }) => book)),
    differences: books.flatMap(({ differences = [] }) => differences).slice(0, MAX_DIFFERENCES),
  }
}

export function checkLines(
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
