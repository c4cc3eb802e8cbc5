import type { Deps } from '../deps.ts'
import type { ClientId, SettlementId } from '../ids.ts'
import { bookDay, endOfBookDay, totalsOf } from '../journal/day-totals.ts'
import { type Entry, isBalanced } from '../journal/entry.ts'
import { entryPages } from '../journal/read-entries.ts'
import { readWindow } from '../ledger/window-store.ts'
import { plus, ZERO } from '../money.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { findSettlements, settlementPages } from '../settlement/settlement-store.ts'
import { addMs, DAY_MS, earlier, later, type Timestamp } from '../time.ts'
import { type Difference, differs } from '../verdict/difference.ts'
import { addBooks, type Book, type BookLine, bookOfLines, bookOfPayout, unequalSides, withOwed } from './book.ts'
import type { BookPeriod } from './book-period.ts'

/** Figures, and each place where their sources disagree. */
export type CheckedBook = { readonly book: Book; readonly differences: readonly Difference[] }

export const NOTHING: CheckedBook = { book: {}, differences: [] }

/** The most differences of an answer; an audit lists all. */
const MOST_DIFFERENCES = 20

export const joined = (...books: readonly CheckedBook[]): CheckedBook => ({
  book: addBooks(...books.map(({ book }) => book)),
  differences: books.flatMap(({ differences }) => differences).slice(0, MOST_DIFFERENCES),
})

/** The lines of one source, each checked separately. */
export const checkedLines = (
  lines: readonly BookLine[],
  period: BookPeriod,
  { what, id }: Pick<Difference, 'what' | 'id'>,
): CheckedBook => ({
  book: bookOfLines(lines, period),
  differences: lines.flatMap((line) => {
    const unequal = unequalSides(line)
    return unequal ? differs(what, `${id} ${line.day} ${line.type}`, unequal.expected, unequal.found) : []
  }),
})

/** The sums of a settlement, and the side of its totals that each is the sum of. */
const TOTALS = [
  ['gross_minor', 'grossMinor', 'grossMinor'],
  ['fee_minor', 'providerFeesMinor', 'feeMinor'],
  ['markup_minor', 'markupMinor', 'markupMinor'],
  ['net_minor', 'netMinor', 'netMinor'],
] as const

/** Checks that a settlement's stored totals by type and day add up to its sums. */
const checkedTotals = ({ settlementId: id, totals, ...settlement }: Settlement): readonly Difference[] =>
  TOTALS.flatMap(([name, sum, side]) => {
    const found = totals.reduce((so, total) => plus(so, total[side]), ZERO)
    return differs(`settlement.totals.${name}`, id, settlement[sum], found)
  })

const bookOfSettlement = (settlement: Settlement, period: BookPeriod): CheckedBook => {
  const { settlementId: id, totals, status, settledAt, netMinor } = settlement
  const isPaid = status === 'manual_paid' && settledAt !== undefined
  return joined(
    checkedLines(totals, period, { what: 'settlement.totals', id }),
    { book: {}, differences: checkedTotals(settlement) },
    { book: isPaid ? bookOfPayout({ day: bookDay(settledAt), netMinor }, period) : {}, differences: [] },
  )
}

const bookOfEntries = (entries: readonly Entry[], period: BookPeriod): CheckedBook => ({
  book: bookOfLines(totalsOf(entries), period),
  differences: entries
    .filter((entry) => !isBalanced(entry))
    .flatMap(({ entryId }) => differs('entry.sides', entryId, 'equal', 'not equal')),
})

type BookDeps = Pick<Deps, 'table' | 'stage' | 'now'>

/** The most consecutive settlements that the index may lack. */
const MOST_UNLISTED = 100

/**
 * All settlements of a client, page by page. The index may lag, so a settlement that a later one or the window names is
 * read by its id. Answers the ids of missing ones.
 */
const visitSettlements = async (
  deps: BookDeps,
  { clientId, lastId }: { readonly clientId: ClientId; readonly lastId: SettlementId | undefined },
  visit: (settlements: readonly Settlement[]) => void,
): Promise<readonly SettlementId[]> => {
  const found = new Set<SettlementId>()
  const named = new Set<SettlementId>(lastId ? [lastId] : [])
  const take = (settlements: readonly Settlement[]): void => {
    for (const { settlementId, previousId } of settlements) {
      found.add(settlementId)
      if (previousId) named.add(previousId)
    }
    visit(settlements)
  }
  for await (const settlements of settlementPages(deps, clientId)) take(settlements)
  for (let round = 0; round < MOST_UNLISTED; round++) {
    const unlisted = [...named].filter((id) => !found.has(id))
    const settlements = unlisted.length > 0 ? await findSettlements(deps, unlisted) : []
    if (settlements.length === 0) return unlisted
    take(settlements)
  }
  throw new Error('the index lacks too many settlements of a client')
}

/** An entry is eligible at most a day after it was posted, on any clock. */
const FURTHEST_MS = 2 * DAY_MS

/**
 * The books of one client (design section 12): its settlements' stored totals, and the entries after the last one. The
 * cost grows with settlements and unsettled entries, not with payments.
 */
export const readClientBook = async (deps: BookDeps, clientId: ClientId, period: BookPeriod): Promise<CheckedBook> => {
  const { parts, settledUntil, lastSettlementId } = await readWindow(deps, clientId)
  let whole: CheckedBook = NOTHING
  let start: Timestamp = settledUntil
  const missing = await visitSettlements(deps, { clientId, lastId: lastSettlementId }, (settlements) => {
    whole = joined(whole, ...settlements.map((settlement) => bookOfSettlement(settlement, period)))
    start = settlements.reduce((last, { sweptUntil }) => later(last, sweptUntil), start)
  })
  const span = { start, end: addMs(earlier(deps.now(), endOfBookDay(period.to)), FURTHEST_MS) }
  for await (const { entries } of entryPages(deps, { clientId, parts, span })) {
    whole = joined(whole, bookOfEntries(entries, period))
  }
  const lost = missing.flatMap((id) => differs('settlement', id, 'there', 'missing'))
  return joined({ book: withOwed(whole.book), differences: lost }, { book: {}, differences: whole.differences })
}
