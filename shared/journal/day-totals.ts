import * as v from 'valibot'
import { plus } from '../money.ts'
import { PAYMENT_METHODS } from '../payment-status.ts'
import { addMs, DAY_MS, HOUR_MS, parseForeignTime, type Timestamp, timestampOf } from '../time.ts'
import { ENTRY_SIDES, ENTRY_TYPES, type Entry, isForClient, SidesSchema } from './entry.ts'

/** Indonesia's west keeps UTC+7 all year: the books' days are those of Asia/Jakarta. */
export const JAKARTA_MS = 7 * HOUR_MS

export const bookDay = (at: Timestamp): string => addMs(at, JAKARTA_MS).slice(0, 10)

export const endOfBookDay = (day: string): Timestamp => addMs(timestampOf(Date.parse(day)), DAY_MS - JAKARTA_MS)

/** A date that does not exist is parsed as one of the next month. */
const isDay = (text: string): boolean => parseForeignTime(`${text}T00:00:00Z`)?.slice(0, 10) === text

/** A date that exists, such as 2026-11-30. */
export const BookDaySchema = v.pipe(v.string(), v.check(isDay, 'must be a date such as 2026-11-30'))

/** Sums of entries of one type, method and day of `posted_at`. The books are made of them. */
export const DayTotalSchema = v.object({
  type: v.picklist(ENTRY_TYPES),
  method: v.optional(v.picklist(PAYMENT_METHODS)),
  day: v.string(),
  count: v.number(),
  ...SidesSchema.entries,
})
type DayTotal = v.InferOutput<typeof DayTotalSchema>

/** A re-credit that replaces an entry counts as that entry, which is in no settlement's totals. */
const totalOf = (entry: Entry): DayTotal => ({
  type: entry.standsForType ?? entry.type,
  method: entry.method,
  day: bookDay(entry.standsForPostedAt ?? entry.postedAt),
  count: isForClient(entry) ? 1 : 0,
  ...v.parse(SidesSchema, entry),
})

const nameOf = ({ day, type, method }: DayTotal): string => `${day} ${type} ${method ?? ''}`

const together = (a: DayTotal, b: DayTotal): DayTotal => {
  const sums = Object.fromEntries(ENTRY_SIDES.map((side) => [side, plus(a[side], b[side])]))
  return { ...a, count: a.count + b.count, ...v.parse(SidesSchema, sums) }
}

export const addTotals = (...lists: readonly (readonly DayTotal[])[]): readonly DayTotal[] =>
  [...Map.groupBy(lists.flat(), nameOf)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, same]) => same.reduce(together))

export const totalsOf = (entries: readonly Entry[]): readonly DayTotal[] => addTotals(entries.map(totalOf))
