import type { JournalDeps } from '../deps.ts'
import { invalidField } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { addTotals, bookDay, totalsOf } from '../journal/day-totals.ts'
import { entryPages } from '../journal/read-entries.ts'
import { type Ledger, readLedger } from '../ledger/ledger-store.ts'
import { less, type Minor, minor, plus, ZERO } from '../money.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { earlier, later, type Timestamp } from '../time.ts'
import { addBooks, bookOfLines, figureOf } from './book.ts'
import { type BookPeriod, isInPeriod } from './book-period.ts'
import { bookOfSettlements, paidDayOf } from './client-book.ts'
import { dayBefore, entrySpan, isLine, lastDayBefore, nextDay } from './statement-lines.ts'

type StatementTotals = {
  readonly openingMinor: Minor
  /** No entry and no payout is ever added before this time. */
  readonly finalUntil: Timestamp
  /** What was owed at the end of the last final day; undefined if the period has none. */
  readonly checked: { readonly day: string; readonly minor: Minor } | undefined
  /** Whether every stored total adds up to the sums of its settlement. */
  readonly isSound: boolean
  readonly payouts: readonly Settlement[]
}

/**
 * What was owed to a client before a period, and at the end of its last final day, by the stored
 * totals of settlements and the entries after them, as in the books (design section 12). Throws 422
 * if these entries are too many for one request.
 */
export async function statementTotals(
  deps: JournalDeps,
  clientId: ClientId,
  { from, to }: BookPeriod,
): Promise<StatementTotals> {
  const ledger = await readLedger(deps, clientId)
  const { settledUntil } = ledger.window
  const finalUntil = finalUntilOf(ledger)
  const before = dayBefore(from)
  const lastFinal = earlier(to, dayBefore(bookDay(finalUntil)))
  const span = { start: settledUntil, end: entrySpan(from, later(before, lastFinal)).end }
  const tail = await readTail(deps, { clientId, span })
  // All entries of the days up to this one are in settlements.
  const lastStored = lastDayBefore(settledUntil)
  if (tail === undefined && before > lastStored) throw tooManyEntries(nextDay(lastStored))
  const last = tail ? lastFinal : earlier(lastFinal, lastStored)

  const period = { from, to: later(before, last) }
  const payouts: Settlement[] = []
  const { checked: settled } = await bookOfSettlements(deps, clientId, ledger.window, period, {
    until: settledUntil,
    note: (settlement) => {
      if (isInPeriod({ from, to }, paidDayOf(settlement) ?? '')) payouts.push(settlement)
    },
  })
  const book = addBooks(settled.book, bookOfLines(tail ?? [], period))
  return {
    openingMinor: minor(figureOf(book, 'opening.clients')),
    finalUntil,
    checked: last < from ? undefined : { day: last, minor: minor(figureOf(book, 'clients')) },
    isSound: settled.differences.length === 0,
    payouts,
  }
}

function finalUntilOf({ window, shards }: Ledger) {
  return shards.reduce((time, { closedUntil }) => earlier(time, closedUntil), window.closedUntil)
}

/** A client that is settled daily has the entries of a day or two after its last settlement. */
const TAIL_PAGES = 5
const TAIL_ROWS = 1_000

/** Undefined if these entries are more than a request reads. */
async function readTail(
  deps: JournalDeps,
  journal: Omit<Parameters<typeof entryPages>[1], 'limit'>,
) {
  let totals: ReturnType<typeof totalsOf> = []
  let pages = 0
  for await (const { entries, more } of entryPages(deps, { ...journal, limit: TAIL_ROWS })) {
    totals = addTotals(totals, totalsOf(entries))
    if (more && ++pages === TAIL_PAGES) return undefined
  }
  return totals
}

function tooManyEntries(earliest: string) {
  return invalidField(
    'from',
    `too many payments are not settled yet; give ${earliest} or an earlier day`,
  )
}

/** A client whose stored totals and journal differ up to a day. */
export type Unsound = { readonly clientId: ClientId; readonly day: string }

type CheckedSpan = Unsound & { readonly from: string }

/**
 * Whether the lines from a day to a final one differ from the stored totals. Everything is read
 * again, because a caller can write a cursor, and an entry may become visible after its
 * transaction. Undefined if the lines are too many for one request.
 */
export async function isDiffering(deps: JournalDeps, span: CheckedSpan) {
  const { clientId, from, day: to } = span
  const totals = await statementTotals(deps, clientId, { from, to })
  // Only a written cursor names a day that is not final.
  if (totals.checked?.day !== to) return false
  if (!totals.isSound) return true
  const linesMinor = await sumOfLines(deps, span, totals)
  if (linesMinor === undefined) return undefined
  return totals.checked.minor !== plus(totals.openingMinor, linesMinor)
}

/** Some seconds of reading. */
const MAX_PAGES = 20
const PAGE_ROWS = 1_000

/** Undefined if the lines are too many. */
async function sumOfLines(
  deps: JournalDeps,
  { clientId, from, day: to }: CheckedSpan,
  { payouts }: StatementTotals,
) {
  let sum = payouts.reduce((total, { netMinor }) => less(total, netMinor), ZERO)
  let pages = 0
  const journal = { clientId, span: entrySpan(from, to), limit: PAGE_ROWS }
  for await (const { entries, more } of entryPages(deps, journal)) {
    for (const entry of entries)
      if (isLine(entry) && isInPeriod({ from, to }, bookDay(entry.postedAt)))
        sum = plus(sum, entry.netMinor)
    if (more && ++pages === MAX_PAGES) return undefined
  }
  return sum
}
