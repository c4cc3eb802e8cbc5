import type { JournalDeps } from '../deps.ts'
import type { ClientId, SettlementId } from '../ids.ts'
import { bookDay, endOfBookDay } from '../journal/day-totals.ts'
import { type Entry, type EntryType, isForClient } from '../journal/entry.ts'
import type { EntryPosition } from '../journal/entry-store.ts'
import { entryPages, type Span } from '../journal/read-entries.ts'
import { type Minor, negated } from '../money.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { addMs, DAY_MS, HOUR_MS, type Timestamp } from '../time.ts'
import { paidDayOf } from './client-book.ts'

type LineType = Exclude<EntryType, 'recredit'>
type EntryOfLine = Entry & { readonly type: LineType }

export type StatementLine = {
  readonly at: Timestamp
  readonly type: LineType | 'payout'
  readonly paymentId?: string | undefined
  readonly settlementId?: SettlementId | undefined
  readonly externalReference?: string | undefined
  readonly amountMinor: Minor
}

type PayoutPosition = { readonly at: Timestamp; readonly settlementId: SettlementId }

/**
 * Where the next line is: the day, in it the last entry, and after all its entries the last payout.
 */
type LinePosition = {
  readonly day: string
  readonly after?: EntryPosition | undefined
  readonly paidAfter?: PayoutPosition | undefined
}

type PlacedLine = { readonly line: StatementLine; readonly position: LinePosition }

type LinesInput = {
  readonly clientId: ClientId
  readonly to: string
  readonly position: LinePosition
  readonly limit: number
  /** Payouts of these days, read when a day is over. */
  readonly payouts: () => Promise<readonly Settlement[]>
}

export type LinesPage = {
  readonly lines: readonly PlacedLine[]
  /** Undefined after the last line. */
  readonly next: LinePosition | undefined
}

/** A page that needs more is short. */
const MAX_QUERIES = 3

/**
 * A page of lines (design section 8): days of Jakarta in order, in a day the entries in the order
 * of the journal, then the payouts. An entry becomes eligible up to a day after it was posted. So
 * the entries of a day lie among those of the next day, and a query may serve several days.
 */
export async function readLines(
  deps: JournalDeps,
  { clientId, to, position: start, limit, payouts }: LinesInput,
): Promise<LinesPage> {
  const lines: PlacedLine[] = []
  let position = start
  for (let queries = 0; position.day <= to && lines.length <= limit; queries++) {
    if (queries === MAX_QUERIES) return { lines, next: position }
    const read = await readEntriesFrom(deps, { clientId, to, position, limit: limit + 1 })
    while (position.day <= to && lines.length <= limit) {
      const { day, after, paidAfter } = position
      if (paidAfter === undefined) lines.push(...read.linesOf(day))
      if (!read.isWhole(day)) {
        position = { day, after: read.lastPlace ?? after }
        break
      }
      lines.push(...payoutsOn(await payouts(), day, paidAfter))
      position = { day: nextDay(day) }
      // Entries of the next day may lie before the place where this query began.
      if (after !== undefined || paidAfter !== undefined) break
    }
  }
  if (lines.length <= limit) return { lines, next: undefined }
  const shown = lines.slice(0, limit)
  return { lines: shown, next: shown.at(-1)?.position }
}

/** Without a place in the day, also the entries of the days after it. */
async function readEntriesFrom(
  deps: JournalDeps,
  { clientId, to, position, limit }: Pick<LinesInput, 'clientId' | 'to' | 'position' | 'limit'>,
) {
  const { day, after, paidAfter } = position
  const span = entrySpan(day, after === undefined ? to : day)
  const { value: page } =
    paidAfter === undefined
      ? await entryPages(deps, { clientId, span, after, limit }).next()
      : { value: undefined }
  const entries: readonly Entry[] = page?.entries ?? []
  const last = entries.at(-1)
  const byDay = Map.groupBy(entries.filter(isLine), ({ postedAt }) => bookDay(postedAt))
  return {
    lastPlace: last && placeIn(last),
    linesOf: (of: string) => (byDay.get(of) ?? []).map((entry) => lineOfEntry(entry, of)),
    isWhole: (of: string) => !page?.more || entrySpan(of, of).end <= (last?.eligibleAt ?? ''),
  }
}

/**
 * How long after it was posted an entry becomes eligible at most: a day, on clocks that differ by
 * less than an hour. Beyond that its line would be missing, which the stored totals would show.
 */
const ELIGIBLE_WITHIN_MS = 25 * HOUR_MS

export function lastDayBefore(place: Timestamp) {
  return dayBefore(bookDay(addMs(place, -ELIGIBLE_WITHIN_MS)))
}

export function entrySpan(from: string, to: string): Span {
  return {
    start: addMs(endOfBookDay(from), -DAY_MS),
    end: addMs(endOfBookDay(to), ELIGIBLE_WITHIN_MS),
  }
}

export function nextDay(day: string) {
  return bookDay(endOfBookDay(day))
}

export function dayBefore(day: string) {
  return bookDay(addMs(endOfBookDay(day), -DAY_MS - 1))
}

/** A re-credit moves nothing that is owed, and merchants do not see entries with zeros. */
export function isLine(entry: Entry): entry is EntryOfLine {
  return entry.type !== 'recredit' && isForClient(entry)
}

function lineOfEntry(entry: EntryOfLine, day: string) {
  const { postedAt, type, paymentId, externalReference, netMinor } = entry
  const line: StatementLine = {
    at: postedAt,
    type,
    paymentId,
    settlementId: entry.returnedSettlementId,
    externalReference,
    amountMinor: netMinor,
  }
  return { line, position: { day, after: placeIn(entry) } }
}

function placeIn({ eligibleAt, entryId }: Entry) {
  return { eligibleAt, entryId }
}

function payoutsOn(
  settlements: readonly Settlement[],
  day: string,
  after: PayoutPosition | undefined,
) {
  return settlements
    .flatMap((settlement): PlacedLine[] => {
      const { settledAt: at, settlementId, netMinor } = settlement
      if (at === undefined || paidDayOf(settlement) !== day) return []
      const line = { at, type: 'payout', settlementId, amountMinor: negated(netMinor) } as const
      return [{ line, position: { day, paidAfter: { at, settlementId } } }]
    })
    .filter((payout) => after === undefined || placeOf(payout.position.paidAfter) > placeOf(after))
    .toSorted((a, b) => (placeOf(a.position.paidAfter) < placeOf(b.position.paidAfter) ? -1 : 1))
}

function placeOf(position: PayoutPosition | undefined) {
  return position === undefined ? '' : `${position.at} ${position.settlementId}`
}
