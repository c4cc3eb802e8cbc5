import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import type { StoreDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import { BookDaySchema, bookDay } from '../../journal/day-totals.ts'
import { excessOf, HOUSE_SIDES } from '../../journal/entry.ts'
import {
  type HouseEntry,
  HouseEntrySchema,
  HouseTotalSchema,
  rowDayOf,
} from '../../journal/house-store.ts'
import { HOUSE_SUBJECT, houseAdjustmentEntry } from '../../posting/adjust-house.ts'
import { HouseAdjustmentSchema } from '../../posting/house-adjustment-store.ts'
import type { Item } from '../../table/attributes.ts'
import {
  HOUSE_ADJUSTMENTS_PK,
  HOUSE_TOTALS_PK,
  houseDayPk,
  houseEntryKey,
} from '../../table/keys.ts'
import { queryAll } from '../../table/list-items.ts'
import { GATEWAY_OWNER } from '../../table/schema.ts'
import { DAY_MS, dayNumber, TimestampSchema, timestampOf } from '../../time.ts'
import { compare, type Difference, tryToMake, unreadableRow } from '../../verdict/difference.ts'
import { auditHouseLegs } from '../rows/audit-legs.ts'
import { keyedDifferences, recordedDifferences, rowDifferences } from '../rows/row-differences.ts'
import { readTrail } from './audit-trails.ts'
import { saidAs } from './derive-client.ts'

/**
 * Judges the entries and the totals of a span. `within`: the days with most rows that were booked
 * on a day of the span; absent: all days. A total that moved during the read is compared another
 * day.
 */
export async function auditJournal(
  deps: StoreDeps,
  { within, readDays, span: [from, until] }: JournalSpan,
) {
  const isIn = (day: string) => day >= from && day <= until
  const readTotals = () =>
    queryAll(deps, {
      partition: [HOUSE_TOTALS_PK],
      range: { between: [from, `${until}~`] },
      limit: PAGE,
    })
  const totals = await readTotals()
  const { rows, entries } = await readHouse(deps, within, readDays)
  const totalsAfter = new Map((await readTotals()).map((total) => [total['sk'], total]))
  const hasMoved = ({ id }: Difference) =>
    !isDeepStrictEqual(
      totals.find(({ sk }) => sk === id),
      totalsAfter.get(id),
    )
  const booked = entries.filter(({ postedAt }) => isIn(bookDay(postedAt)))
  const byRow = Map.groupBy(entries, ({ transactionId }) => transactionId)
  return {
    entries,
    differences: [
      ...rows
        .filter(({ rowDay }) => isIn(rowDay))
        .flatMap(({ item, entry }) =>
          auditHouseEntry(item, entry, (entry && byRow.get(entry.transactionId)) ?? []),
        ),
      ...compareTotals(booked, totals, bookDay(deps.now())).filter((one) => !hasMoved(one)),
    ],
  }
}

export type JournalSpan = {
  readonly within?: Days
  readonly span: DaySpan
  readonly readDays?: ReadDays
}

/** The first and the last day, of rows and of totals. */
export type DaySpan = readonly [from: string, until: string]

export const [FIRST_DAY, LAST_DAY] = ['0', '9~'] as const

const SIDE_BY_SIDE = 16
const PAGE = 1_000

/** The first and the last day, in days since 1970. */
type Days = readonly [first: number, last: number]

/** The rows of days that an audit has read before. */
export type ReadDays = Map<string, ReturnType<typeof readDay>>

/** The few rows without a client, and suspense. `within`: only rows of these days. */
export async function readHouse(deps: StoreDeps, within?: Days, readDays: ReadDays = new Map()) {
  const [first, last] = await houseDays(deps)
  const from = Math.max(first, within?.[0] ?? first)
  const until = Math.min(last, within?.[1] ?? last)
  const days = Array.from({ length: Math.max(0, until - from + 1) }, (_, at) => dayText(from + at))
  const read = await mapInChunks(days, SIDE_BY_SIDE, (rowDay) => {
    const rows = readDays.get(rowDay) ?? readDay(deps, rowDay)
    readDays.set(rowDay, rows)
    return rows
  })
  const rows = read.flat()
  return { rows, entries: rows.flatMap(({ entry }) => entry ?? []) }
}

async function readDay(deps: StoreDeps, rowDay: string) {
  const items = await queryAll(deps, { partition: [houseDayPk(rowDay)], limit: PAGE })
  return items.map((item) => ({ rowDay, item, entry: ifValid(HouseEntrySchema, item) }))
}

/** The sync reads rows that are at most 180 days older than the day of booking. */
const OLDEST_ROW_DAYS = 200

/** The days of which the house may have rows. */
export async function houseDays(deps: StoreDeps): Promise<Days> {
  const today = dayNumber(deps.now())
  const { items } = await deps.table.query({ partition: [HOUSE_TOTALS_PK], limit: PAGE })
  const days = items.flatMap((total) => ifValid(HouseTotalSchema, total)?.day ?? [])
  const firstDay = days.find((day) => v.is(BookDaySchema, day))
  // A restore may have lost the total of the very first row.
  const first = firstDay
    ? dayNumber(v.parse(TimestampSchema, `${firstDay}T00:00:00.000Z`)) - OLDEST_ROW_DAYS
    : today - 1
  // A row's date may be a little ahead of our clock.
  return [first, today + 1]
}

export function dayText(day: number) {
  return timestampOf(day * DAY_MS).slice(0, 10)
}

/** Both sides are equal, and each leg is what the entry's type gives it. */
function auditHouseEntry(item: Item, entry: HouseEntry | undefined, booked: readonly HouseEntry[]) {
  const id = String(item['sk'])
  if (entry === undefined) return unreadableRow('house_entry', id)
  const key = houseEntryKey(rowDayOf(entry), entry.transactionId, entry.type)
  return [
    ...keyedDifferences('house_entry', id, { key, row: entry }, item),
    ...compare('house_entry.sides', id, 0, excessOf(entry)),
    ...auditHouseLegs(entry, booked),
  ]
}

function compareTotals(entries: readonly HouseEntry[], totals: readonly Item[], today: string) {
  const derived = derivedTotals(entries)
  const found = new Map(totals.map((total) => [String(total['sk']), total]))
  return [...new Set([...derived.keys(), ...found.keys()])].flatMap((name) => {
    // Only a day that is over is closed.
    const day = name.split('#')[0] ?? today
    const { closed: stored } = Object(found.get(name))
    const closed = stored === undefined || day < today ? stored : false
    const total = { ...(derived.get(name) ?? totalOf(name, [])), closed }
    return rowDifferences('house_total', name, total, found.get(name))
  })
}

/** The totals of each day and type, by their names. */
export function derivedTotals(entries: readonly HouseEntry[]) {
  const byName = Map.groupBy(entries, ({ postedAt, type }) => `${bookDay(postedAt)}#${type}`)
  return new Map([...byName].map(([name, rows]) => [name, totalOf(name, rows)] as const))
}

export function totalOf(name: string, rows: readonly HouseEntry[]) {
  const [day = '', type = ''] = name.split('#')
  // Plain numbers, because a tampered side can exceed the range of money.
  const sums = HOUSE_SIDES.map(
    (side) => [side, rows.reduce((sum, row) => sum + row[side], 0)] as const,
  )
  return { type, day, ...Object.fromEntries(sums), count: rows.length }
}

/** Each adjustment of the house has its record, its row and one entry, and none has only some. */
export async function auditHouseAdjustments(deps: StoreDeps, entries: readonly HouseEntry[]) {
  const { records } = await readTrail(deps, HOUSE_SUBJECT, GATEWAY_OWNER)
  const items = await queryAll(deps, { partition: [HOUSE_ADJUSTMENTS_PK], limit: PAGE })
  const rows = new Map(items.map((item) => [String(item['sk']), item]))
  const said = records.flatMap(({ after }) => saidAs(HouseAdjustmentSchema, after) ?? [])
  const made = said.flatMap((one) => tryToMake(() => houseAdjustmentEntry(one)) ?? [])
  const stored = await deps.table.getMany(
    made.map((entry) => houseEntryKey(rowDayOf(entry), entry.transactionId, entry.type)),
  )
  const recorded = new Map(said.map((one) => [one.reference, one]))
  const booked = entries.filter(({ type }) => type === 'adjustment')
  const found = [...rows.keys(), ...booked.map(({ transactionId }) => transactionId)]
  return [
    ...recordedDifferences('house_adjustment', recorded, rows, found),
    ...booked.flatMap(({ transactionId: id, rowAt }) =>
      compare('house_entry.row_at', id, recorded.get(id)?.postedAt ?? rowAt, rowAt),
    ),
    ...made.flatMap((entry, at) =>
      rowDifferences('house_entry', entry.transactionId, entry, stored[at]),
    ),
  ]
}
