import * as v from 'valibot'
import { chunks } from '../chunks.ts'
import type { StoreDeps, TableDeps } from '../deps.ts'
import { MinorSchema, ZERO } from '../money.ts'
import { HOUSE_TOTALS_PK, houseDayPk, houseEntryKey, houseTotalKey } from '../table/keys.ts'
import { queryAll } from '../table/list-items.ts'
import { isNew, put, type Step, update } from '../table/step.ts'
import { addMs, DAY_MS, TimestampSchema } from '../time.ts'
import { bookDay } from './day-totals.ts'
import { HOUSE_SIDES, houseOf, type Legs } from './entry.ts'

/** Movements of money that belongs to no client, or to no client yet (design section 12). */
export const HOUSE_ENTRY_TYPES = [
  'suspense',
  'suspense_resolved',
  'suspense_refunded',
  'unmatched',
  'withdrawal',
  'correction',
] as const
export type HouseEntryType = (typeof HOUSE_ENTRY_TYPES)[number]

export const HouseEntrySchema = v.object({
  type: v.picklist(HOUSE_ENTRY_TYPES),
  transactionId: v.string(),
  /** When the provider made the row; without a row, when the entry was written. */
  rowAt: TimestampSchema,
  postedAt: TimestampSchema,
  ...v.entriesFromList(HOUSE_SIDES, v.optional(MinorSchema, ZERO)),
  suspenseId: v.optional(v.string()),
  /**
   * Of a `correction`: whose entry has the other side. Of `suspense`: whose payment it is, if
   * known.
   */
  clientId: v.optional(v.string()),
})
export type HouseEntry = v.InferOutput<typeof HouseEntrySchema>

/** Adds the house side: provider + bank = suspense + house. */
export function newHouseEntry({
  providerMinor = ZERO,
  bankMinor = ZERO,
  suspenseMinor = ZERO,
  ...entry
}: Omit<HouseEntry, (typeof HOUSE_SIDES)[number]> & Partial<Legs>): HouseEntry {
  const legs = { providerMinor, bankMinor, suspenseMinor }
  return { ...entry, ...legs, houseMinor: houseOf({ ...legs, netMinor: ZERO }) }
}

/** Adds the entry to the day's total. Refused when the row has an entry of this type. */
export function putHouseEntry(entry: HouseEntry): {
  readonly houseEntry: Step
  readonly houseTotal: Step
} {
  const { type, transactionId, postedAt, providerMinor, bankMinor, suspenseMinor, houseMinor } =
    entry
  return {
    houseEntry: put(houseEntryKey(rowDayOf(entry), transactionId, type), entry, isNew),
    houseTotal: update(houseTotalKey(bookDay(postedAt), type), {
      add: { providerMinor, bankMinor, suspenseMinor, houseMinor, count: 1 },
      setIfAbsent: { type, day: bookDay(postedAt) },
    }),
  }
}

export function rowDayOf({ rowAt }: Pick<HouseEntry, 'rowAt'>): string {
  return rowAt.slice(0, 10)
}

/** A row is booked within days of its creation; older days are not searched. */
const DAYS_LOOKED_AT = 400

const DAYS_AT_ONCE = 50

/** Rows that an operator may take over into a client's journal: they belong to no client. */
const OPEN_TYPES = ['unmatched', 'withdrawal'] as const satisfies readonly HouseEntryType[]

/** A key has the row's day: days are read from tomorrow backwards. */
export async function findUnclaimedRow(
  deps: StoreDeps,
  transactionId: string,
): Promise<HouseEntry | undefined> {
  const newest = addMs(deps.now(), DAY_MS)
  const days = Array.from({ length: DAYS_LOOKED_AT }, (_, daysBack) =>
    addMs(newest, -daysBack * DAY_MS).slice(0, 10),
  )
  for (const someDays of chunks(days, DAYS_AT_ONCE)) {
    const keys = someDays.flatMap((day) =>
      OPEN_TYPES.map((type) => houseEntryKey(day, transactionId, type)),
    )
    const found = (await deps.table.getMany(keys)).find((item) => item !== undefined)
    if (found) return v.parse(HouseEntrySchema, found)
  }
  return undefined
}

/** Whether the house has booked the row, for an operator to decide about. */
export async function isLeftToOperator(
  deps: TableDeps,
  row: Pick<HouseEntry, 'transactionId' | 'rowAt'>,
): Promise<boolean> {
  const keys = OPEN_TYPES.map((type) => houseEntryKey(rowDayOf(row), row.transactionId, type))
  return (await deps.table.getMany(keys)).some((item) => item !== undefined)
}

export const HouseTotalSchema = v.object({
  type: v.picklist(HOUSE_ENTRY_TYPES),
  day: v.string(),
  ...v.entriesFromList(HOUSE_SIDES, MinorSchema),
  count: v.number(),
})
export type HouseTotal = v.InferOutput<typeof HouseTotalSchema>

const PAGE = 1_000

/** Both days are included. */
export async function houseTotals(
  deps: TableDeps,
  { fromDay, untilDay }: { readonly fromDay: string; readonly untilDay: string },
): Promise<readonly HouseTotal[]> {
  const range = { between: [fromDay, `${untilDay}~`] } as const
  const items = await queryAll(deps, { partition: [HOUSE_TOTALS_PK], range, limit: PAGE })
  return items.map((item) => v.parse(HouseTotalSchema, item))
}

export async function houseEntriesOf(
  deps: TableDeps,
  rowDay: string,
): Promise<readonly HouseEntry[]> {
  return (await queryAll(deps, { partition: [houseDayPk(rowDay)], limit: PAGE })).map((item) =>
    v.parse(HouseEntrySchema, item),
  )
}
