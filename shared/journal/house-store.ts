import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { MinorSchema } from '../money.ts'
import { isNew } from '../table/condition.ts'
import { HOUSE_TOTALS_PK, houseDayPk, houseEntryKey, houseTotalKey } from '../table/keys.ts'
import { queryPages } from '../table/query-pages.ts'
import { put, type Step, update } from '../table/step.ts'
import { bookDay } from './day-totals.ts'
import { HOUSE_ENTRY_TYPES, type HouseEntry, HouseEntrySchema } from './house-entry.ts'

const rowDayOf = ({ rowAt }: Pick<HouseEntry, 'rowAt'>): string => rowAt.slice(0, 10)

/**
 * A house entry and its part of the day's total, as steps of one transaction. Refused by `houseEntry` when the row has
 * one of this type already.
 */
export const putHouseEntry = (entry: HouseEntry): { readonly houseEntry: Step; readonly houseTotal: Step } => {
  const { type, transactionId, postedAt, providerMinor, bankMinor, suspenseMinor, houseMinor } = entry
  return {
    houseEntry: put(houseEntryKey(rowDayOf(entry), transactionId, type), entry, isNew),
    houseTotal: update(houseTotalKey(bookDay(postedAt), type), {
      add: { providerMinor, bankMinor, suspenseMinor, houseMinor, count: 1 },
      setIfAbsent: { type, day: bookDay(postedAt) },
    }),
  }
}

/** The entry of a row and type; undefined where there is none. */
export const findHouseEntry = async (
  deps: Pick<Deps, 'table'>,
  { rowAt, transactionId, type }: Pick<HouseEntry, 'rowAt' | 'transactionId' | 'type'>,
): Promise<HouseEntry | undefined> => {
  const item = await deps.table.get(houseEntryKey(rowDayOf({ rowAt }), transactionId, type))
  return item && v.parse(HouseEntrySchema, item)
}

export const HouseTotalSchema = v.object({
  type: v.picklist(HOUSE_ENTRY_TYPES),
  day: v.string(),
  providerMinor: MinorSchema,
  bankMinor: MinorSchema,
  suspenseMinor: MinorSchema,
  houseMinor: MinorSchema,
  count: v.number(),
})
export type HouseTotal = v.InferOutput<typeof HouseTotalSchema>

const PAGE = 1_000

/** The house's totals of days up to `untilDay`, both ends included: some a day, whatever happened. */
export const houseTotals = async (
  deps: Pick<Deps, 'table'>,
  { fromDay, untilDay }: { readonly fromDay: string; readonly untilDay: string },
): Promise<readonly HouseTotal[]> => {
  const found: HouseTotal[] = []
  const range = { between: [fromDay, `${untilDay}~`] } as const
  for await (const items of queryPages(deps, { partition: [HOUSE_TOTALS_PK], range, limit: PAGE })) {
    found.push(...items.map((item) => v.parse(HouseTotalSchema, item)))
  }
  return found
}

/** The entries of one day of rows. */
export const houseEntriesOf = async (deps: Pick<Deps, 'table'>, rowDay: string): Promise<readonly HouseEntry[]> => {
  const found: HouseEntry[] = []
  for await (const items of queryPages(deps, { partition: [houseDayPk(rowDay)], limit: PAGE })) {
    found.push(...items.map((item) => v.parse(HouseEntrySchema, item)))
  }
  return found
}
