import * as v from 'valibot'
import { chunks, mapInChunks } from '../chunks.ts'
import type { StoreDeps, TableDeps } from '../deps.ts'
import { conflict } from '../errors.ts'
import { PaymentIdSchema } from '../ids.ts'
import { readRows } from '../if-valid.ts'
import { MinorSchema, negated, ZERO } from '../money.ts'
import { HOUSE_TOTALS_PK, houseEntryKey, houseTotalKey } from '../table/keys.ts'
import { queryAll } from '../table/list-items.ts'
import { absent, guard, isNew, put, type Step, update } from '../table/step.ts'
import type { Steps, TransactOutcome } from '../table/table.ts'
import { addMs, DAY_MS, later, type Timestamp, TimestampSchema } from '../time.ts'
import { bookDay, endOfBookDay } from './day-totals.ts'
import { assertEqualSides, HOUSE_SIDES, type Legs, NO_LEGS } from './entry.ts'

/** Movements of money that belongs to no client, or to no client yet (design section 12). */
export const HOUSE_ENTRY_TYPES = [
  'suspense',
  'suspense_resolved',
  'suspense_refunded',
  'unmatched',
  'topup',
  'withdrawal',
  'correction',
  'reversal',
  'adjustment',
] as const
export type HouseEntryType = (typeof HOUSE_ENTRY_TYPES)[number]

export const HouseEntrySchema = v.object({
  type: v.picklist(HOUSE_ENTRY_TYPES),
  transactionId: v.string(),
  /** When the provider made the row; without a row, when the entry was written. */
  rowAt: TimestampSchema,
  postedAt: TimestampSchema,
  ...v.entriesFromList(HOUSE_SIDES, v.optional(MinorSchema, ZERO)),
  /** What the booked row shows, for the audit and for a refund that an operator makes of it. */
  amountMinor: v.optional(MinorSchema),
  feeMinor: v.optional(MinorSchema),
  suspenseId: v.optional(v.string()),
  /**
   * Of a `correction`: whose entry has the other side. Of `suspense`: whose payment it is, if
   * known.
   */
  clientId: v.optional(v.string()),
  /** Of a `correction`: the payment whose refund the row became. */
  paymentId: v.optional(PaymentIdSchema),
})
export type HouseEntry = v.InferOutput<typeof HouseEntrySchema>

const LegsSchema = v.object(v.entriesFromList(HOUSE_SIDES, MinorSchema))

/** An absent leg is zero. Throws unless provider + bank + transit = suspense + cost + other. */
export function newHouseEntry(entry: Omit<HouseEntry, keyof Legs> & Partial<Legs>): HouseEntry {
  const whole = { ...NO_LEGS, ...entry }
  assertEqualSides(whole)
  return whole
}

/**
 * Adds the entry to the day's total. Refused when the row has an entry of this type, or the day is
 * closed.
 */
export function putHouseEntry(entry: HouseEntry): {
  readonly houseEntry: Step
  readonly houseTotal: Step
} {
  const { type, transactionId, postedAt } = entry
  const legs = v.parse(LegsSchema, entry)
  return {
    houseEntry: put(houseEntryKey(rowDayOf(entry), transactionId, type), entry, isNew),
    houseTotal: update(
      houseTotalKey(bookDay(postedAt), type),
      { add: { ...legs, count: 1 }, setIfAbsent: { type, day: bookDay(postedAt) } },
      absent('closed'),
    ),
  }
}

type RowKey = Pick<HouseEntry, 'transactionId' | 'rowAt'>

/** Refused when the house has booked the row as one of these types. */
export function requireUnbooked(row: RowKey, types: readonly RowType[] = ROW_TYPES): Steps<string> {
  return Object.fromEntries(
    types.map((type) => [`bookedAs ${type}`, guard(keyBeside(row, type), isNew)]),
  )
}

/** The clock is past the closed day at the second try, or slow by less than a day. */
const MAX_DAYS_TRIED = 3

/** Writes with a time of posting whose day is open: a frozen process may come after its day. */
export async function onOpenDay<Outcome extends TransactOutcome<string>>(
  deps: StoreDeps,
  write: (postedAt: Timestamp) => Promise<Outcome>,
): Promise<Outcome> {
  let postedAt = deps.now()
  for (let tried = 0; tried < MAX_DAYS_TRIED; tried++) {
    const outcome = await write(postedAt)
    if (outcome.applied || outcome.refusedBy !== 'houseTotal') return outcome
    postedAt = later(deps.now(), endOfBookDay(bookDay(postedAt)))
  }
  throw new Error('the days of the house journal kept being closed')
}

/** The audit may have missed so many nights. Without any entry fewer days are closed. */
const DAYS_CLOSED_AT_ONCE = 100
const DAYS_CLOSED_AT_LEAST = 7

const CLOSED_SIDE_BY_SIDE = 16

/**
 * Closes the days of Jakarta that are over, for every type: no entry is added to them (design
 * section 12). Safe to repeat: a day that an earlier run has closed in part is closed whole.
 */
export async function closeHouseDays(deps: StoreDeps): Promise<void> {
  const daysAgo = (days: number) => bookDay(addMs(deps.now(), -days * DAY_MS))
  const untilDay = daysAgo(1)
  const range = { between: [daysAgo(DAYS_CLOSED_AT_ONCE), `${untilDay}~`] } as const
  const totals = await queryAll(deps, { partition: [HOUSE_TOTALS_PK], range, limit: PAGE })
  const closed = new Set(totals.filter((total) => total['closed'] === true).map(({ sk }) => sk))
  const firstDay = [daysAgo(DAYS_CLOSED_AT_LEAST), String(totals[0]?.['day'])].toSorted()[0] ?? ''
  const days: string[] = []
  for (let ago = 1; ago <= DAYS_CLOSED_AT_ONCE && daysAgo(ago) >= firstDay; ago++)
    days.push(daysAgo(ago))
  const open = days
    .flatMap((day) => HOUSE_ENTRY_TYPES.map((type) => ({ day, type })))
    .filter(({ day, type }) => !closed.has(houseTotalKey(day, type).sk))
  await mapInChunks(open, CLOSED_SIDE_BY_SIDE, ({ day, type }) =>
    deps.table.write(
      update(houseTotalKey(day, type), { set: { closed: true }, setIfAbsent: { type, day } }),
    ),
  )
}

type Undoing = Pick<HouseEntry, 'postedAt' | 'clientId' | 'paymentId'>

/**
 * An operator takes a row over, once: every leg of its entry is undone. Refused when the row was
 * taken over or booked back before.
 */
export function takeOverRow(entry: HouseEntry, by: Undoing) {
  return {
    ...putHouseEntry(undoingEntry(entry, 'correction', by)),
    notBookedBack: guard(keyBeside(entry, 'reversal'), isNew),
  }
}

/** Throws 409 if a step of `takeOverRow` was refused. */
export function requireTakenOver({ transactionId }: RowKey, refusedBy: string) {
  if (!['houseEntry', 'notBookedBack'].includes(refusedBy)) return
  throw conflict(
    `provider transaction ${transactionId} was taken over, or is void, by now`,
    'Book nothing more for it. list-audit shows which adjustment or refund has it: an opposite ' +
      'correction without provider_transaction_id undoes a wrong one.',
  )
}

/** The row is void: every leg of its entry is undone. Refused when it was taken over meanwhile. */
export function bookEntryBack(entry: HouseEntry, by: Undoing) {
  return {
    ...putHouseEntry(undoingEntry(entry, 'reversal', by)),
    notTakenOver: guard(keyBeside(entry, 'correction'), isNew),
  }
}

function undoingEntry(entry: HouseEntry, type: HouseEntryType, by: Undoing): HouseEntry {
  const { transactionId, rowAt } = entry
  const legs = Object.fromEntries(HOUSE_SIDES.map((side) => [side, negated(entry[side])]))
  return newHouseEntry({ transactionId, rowAt, type, ...by, ...v.parse(LegsSchema, legs) })
}

function keyBeside(row: RowKey, type: HouseEntryType) {
  return houseEntryKey(rowDayOf(row), row.transactionId, type)
}

export function rowDayOf({ rowAt }: Pick<HouseEntry, 'rowAt'>): string {
  return rowAt.slice(0, 10)
}

/** A row is booked within days of its creation; older days are not searched. */
const DAYS_LOOKED_AT = 400

const DAYS_AT_ONCE = 50

/** Rows that an operator may take over into a client's journal: they belong to no client. */
const OPEN_TYPES = ['unmatched', 'topup', 'withdrawal'] as const satisfies readonly HouseEntryType[]

/** A row is booked as one of these, once. */
export const ROW_TYPES = [...OPEN_TYPES, 'suspense_refunded'] as const
type RowType = (typeof ROW_TYPES)[number]

/** A key has the row's day, so days are read from tomorrow backwards. */
export async function findUnclaimedRow(
  deps: StoreDeps,
  transactionId: string | undefined,
): Promise<HouseEntry | undefined> {
  if (transactionId === undefined) return undefined
  const newest = addMs(deps.now(), DAY_MS)
  const days = Array.from({ length: DAYS_LOOKED_AT }, (_, daysBack) =>
    addMs(newest, -daysBack * DAY_MS).slice(0, 10),
  )
  for (const someDays of chunks(days, DAYS_AT_ONCE)) {
    const keys = someDays.flatMap((day) =>
      OPEN_TYPES.map((type) => houseEntryKey(day, transactionId, type)),
    )
    const found = (await deps.table.getMany(keys)).find((item) => item !== undefined)
    if (found === undefined) continue
    const entry = v.parse(HouseEntrySchema, found)
    return (await deps.table.get(keyBeside(entry, 'reversal'))) ? undefined : entry
  }
  return undefined
}

const BOOKED_TYPES = [...ROW_TYPES, 'correction', 'reversal'] as const

/** What the house has booked of a row, by type. */
export async function bookingsOf(
  deps: TableDeps,
  row: RowKey,
  types: readonly HouseEntryType[] = BOOKED_TYPES,
): Promise<Partial<Record<HouseEntryType, HouseEntry>>> {
  const keys = types.map((type) => houseEntryKey(rowDayOf(row), row.transactionId, type))
  const entries = (await deps.table.getMany(keys)).map((item) =>
    v.parse(v.optional(HouseEntrySchema), item),
  )
  return Object.fromEntries(entries.flatMap((entry) => (entry ? [[entry.type, entry]] : [])))
}

export async function isLeftToOperator(deps: TableDeps, row: RowKey): Promise<boolean> {
  return Object.keys(await bookingsOf(deps, row, OPEN_TYPES)).length > 0
}

export const HouseTotalSchema = v.object({
  type: v.picklist(HOUSE_ENTRY_TYPES),
  day: v.string(),
  ...v.entriesFromList(HOUSE_SIDES, v.optional(MinorSchema, ZERO)),
  count: v.optional(v.number(), 0),
  /** The day is over, and the gateway's audit has closed it. */
  closed: v.optional(v.literal(true)),
})

const PAGE = 1_000

/** Both days are included. */
export async function houseTotals(
  deps: TableDeps,
  { fromDay, untilDay }: { readonly fromDay: string; readonly untilDay: string },
) {
  const range = { between: [fromDay, `${untilDay}~`] } as const
  const items = await queryAll(deps, { partition: [HOUSE_TOTALS_PK], range, limit: PAGE })
  return readRows(HouseTotalSchema, items, ({ sk }) => sk)
}
