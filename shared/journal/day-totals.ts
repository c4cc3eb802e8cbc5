import * as v from 'valibot'
import { plus } from '../money.ts'
import { PAYMENT_METHODS } from '../payment-status.ts'
import {
  addMs,
  DAY_MS,
  JAKARTA_MS,
  parseForeignTime,
  type Timestamp,
  timestampOf,
} from '../time.ts'
import {
  ENTRY_SIDES,
  ENTRY_TYPES,
  type Entry,
  isForClient,
  SidesSchema,
  settledFigures,
} from './entry.ts'

export function bookDay(at: Timestamp): string {
  return addMs(at, JAKARTA_MS).slice(0, 10)
}

export function endOfBookDay(day: string): Timestamp {
  return addMs(timestampOf(Date.parse(day)), DAY_MS - JAKARTA_MS)
}

export function startOfBookDay(at: Timestamp): Timestamp {
  return addMs(endOfBookDay(bookDay(at)), -DAY_MS)
}

/** An entry is eligible at most a day after it was posted, on any clock within a day. */
export const FURTHEST_ELIGIBLE_MS = 2 * DAY_MS

type DayTotal = v.InferOutput<typeof DayTotalSchema>

export function addTotals(...lists: readonly (readonly DayTotal[])[]): readonly DayTotal[] {
  return mergeBy(lists.flat(), ({ day, type, method }) => `${day} ${type} ${method ?? ''}`)
}

function mergeBy(totals: readonly DayTotal[], keyOf: (total: DayTotal) => string) {
  return [...Map.groupBy(totals, keyOf)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, merged]) => merged.reduce(mergeTotals))
}

function mergeTotals(a: DayTotal, b: DayTotal): DayTotal {
  const sums = Object.fromEntries(ENTRY_SIDES.map((side) => [side, plus(a[side], b[side])]))
  return {
    ...a,
    day: a.day < b.day ? a.day : b.day,
    ...(a.lastDay && b.lastDay && { lastDay: a.lastDay > b.lastDay ? a.lastDay : b.lastDay }),
    count: a.count + b.count,
    ...v.parse(SidesSchema, sums),
  }
}

/** Some 60 KB of a settlement's row. */
const MAX_TOTALS = 200

/**
 * Totals of many days lose their days for good, except the first and the last: a row has room for
 * any window.
 */
export function boundedTotals(totals: readonly DayTotal[]): readonly DayTotal[] {
  const isBounded = totals.length <= MAX_TOTALS && totals.every(({ lastDay }) => !lastDay)
  if (isBounded) return totals
  const spans = totals.map((total) => ({ ...total, lastDay: total.lastDay ?? total.day }))
  return mergeBy(spans, ({ type, method }) => `${type} ${method ?? ''}`)
}

export function totalsOf(entries: readonly Entry[]): readonly DayTotal[] {
  return addTotals(entries.map(totalOf))
}

/** `Date.parse` takes 31 February for a day of March. */
export const BookDaySchema = v.pipe(
  v.string(),
  v.check(
    (day) => parseForeignTime(`${day}T00:00:00Z`)?.slice(0, 10) === day,
    'must be a date such as 2026-11-30',
  ),
)

/**
 * Sums of the entries of one type, method and day of `posted_at`. They make up the books, except
 * what a re-credit carries.
 */
export const DayTotalSchema = v.object({
  type: v.picklist(ENTRY_TYPES),
  method: v.optional(v.picklist(PAYMENT_METHODS)),
  day: v.string(),
  /** Of a total of several days, whose first is `day`. */
  lastDay: v.optional(v.string()),
  count: v.number(),
  ...SidesSchema.entries,
})

function totalOf(entry: Entry): DayTotal {
  return {
    type: entry.type,
    method: entry.method,
    day: bookDay(entry.postedAt),
    count: isForClient(entry) ? 1 : 0,
    ...v.parse(SidesSchema, { ...entry, ...settledFigures(entry) }),
  }
}
