import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import type { StoreDeps, TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { BookDaySchema, bookDay } from '../../journal/day-totals.ts'
import { excessOf, HOUSE_SIDES } from '../../journal/entry.ts'
import { type HouseEntry, HouseEntrySchema, HouseTotalSchema } from '../../journal/house-store.ts'
import { minor } from '../../money.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { lastAlertAt } from '../../suspense/dispute.ts'
import { MOVED_CAUSES, type Suspense, SuspenseSchema } from '../../suspense/suspense.ts'
import { suspenseRow } from '../../suspense/suspense-store.ts'
import type { Item } from '../../table/attributes.ts'
import { HOUSE_TOTALS_PK, houseDayPk, idOf, suspenseKey } from '../../table/keys.ts'
import { itemPages, type KeyedItem, keyedItems, queryAll } from '../../table/list-items.ts'
import { GATEWAY_OWNER } from '../../table/schema.ts'
import { addMs, DAY_MS, msBetween, type Timestamp, TimestampSchema } from '../../time.ts'
import {
  compare,
  type Difference,
  type HouseDifference,
  onlyIf,
  toValue,
  withClient,
} from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { ownDifferences } from '../rows/stored-rows.ts'
import { auditHouseAdjustments } from './audit-house-adjustments.ts'
import { compareWithNotes, type Note, readNotes } from './audit-registers.ts'
import { readTrail } from './audit-trails.ts'
import { auditHeld, auditHouseLegs } from './judge-legs.ts'
import { auditShownMoney } from './judge-shown.ts'

/**
 * Compares the house journal with totals, and suspense with journal and register, both ways. A
 * total that moved during the read is compared another day. `clientId`: only its suspense is
 * complete.
 */
export async function auditHouse(
  deps: StoreDeps,
  clientId?: ClientId,
): Promise<readonly HouseDifference[]> {
  const { entries, totals, differences } = await readHouse(deps)
  const totalsAfter = new Map((await readTotals(deps)).map((total) => [total['sk'], total]))
  const hasMoved = ({ id }: Difference) =>
    !isDeepStrictEqual(
      totals.find(({ sk }) => sk === id),
      totalsAfter.get(id),
    )
  const found = compareTotals(entries, totals, bookDay(deps.now())).filter(
    (difference) => !hasMoved(difference),
  )
  return [
    ...withClient(undefined, [...differences, ...found]),
    ...(await auditItems(deps, entries, await readNotes(deps, clientId))),
    ...(clientId === undefined
      ? withClient(undefined, await auditHouseAdjustments(deps, entries))
      : []),
  ]
}

function readTotals(deps: TableDeps) {
  return queryAll(deps, { partition: [HOUSE_TOTALS_PK], limit: PAGE })
}

const SIDE_BY_SIDE = 16
const PAGE = 1_000

/** The sync reads rows that are at most 180 days older than the day of booking. */
const OLDEST_ROW_MS = 200 * DAY_MS

/** The few rows without a client, and suspense. */
export async function readHouse(deps: StoreDeps) {
  const now = deps.now()
  const totals = await readTotals(deps)
  const days = totals.flatMap((total) => ifValid(HouseTotalSchema, total)?.day ?? [])
  const firstDay = days.find((day) => v.is(BookDaySchema, day))
  // A restore may have lost the total of the very first row.
  const start = startOfDay(
    (firstDay ? addMs(startOfDay(firstDay), -OLDEST_ROW_MS) : addMs(now, -DAY_MS)).slice(0, 10),
  )
  // A row's date may be a little ahead of our clock.
  const count = Math.max(0, Math.floor(msBetween(start, addMs(now, DAY_MS)) / DAY_MS) + 1)
  const read = Array.from({ length: count }, (_, at) => addMs(start, at * DAY_MS).slice(0, 10))
  const items = await mapInChunks(read, SIDE_BY_SIDE, (day) =>
    queryAll(deps, { partition: [houseDayPk(day)], limit: PAGE }),
  )
  const rows = items.flat().map((item) => ({ item, entry: ifValid(HouseEntrySchema, item) }))
  const entries = rows.flatMap(({ entry }) => entry ?? [])
  const byRow = Map.groupBy(entries, ({ transactionId }) => transactionId)
  return {
    entries,
    totals,
    differences: rows.flatMap(({ item, entry }) =>
      auditHouseEntry(item, entry, (entry && byRow.get(entry.transactionId)) ?? []),
    ),
  }
}

/** Both sides are equal, and each leg is what the entry's type gives it. */
function auditHouseEntry(
  item: Item,
  entry: HouseEntry | undefined,
  booked: readonly HouseEntry[],
): readonly Difference[] {
  const id = String(item['sk'])
  if (entry === undefined) return compare('house_entry', id, 'readable', 'unreadable')
  return [
    ...ownDifferences(item, id),
    ...compare('house_entry.sides', id, 0, excessOf(entry)),
    ...auditHouseLegs(entry, booked),
  ]
}

function startOfDay(day: string): Timestamp {
  return v.parse(TimestampSchema, `${day}T00:00:00.000Z`)
}

function compareTotals(
  entries: readonly HouseEntry[],
  totals: readonly Item[],
  today: string,
): readonly Difference[] {
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

async function auditItems(
  deps: StoreDeps,
  entries: readonly HouseEntry[],
  notes: readonly Note[],
): Promise<readonly HouseDifference[]> {
  const byItem = Map.groupBy(entries, ({ suspenseId }) => suspenseId ?? '')
  const notesOf = Map.groupBy(notes, ({ id }) => id)
  const readIds = new Set([''])
  const differences: HouseDifference[] = []
  const list = {
    kind: 'SUSPENSE',
    index: 'by-owner',
    partition: [GATEWAY_OWNER, 'suspense'],
    limit: 100,
  } as const
  const judge = async (owned: readonly KeyedItem[]) => {
    const judged = await mapInChunks(owned, SIDE_BY_SIDE, async ({ key, item: stored }) => {
      const id = idOf(key.pk)
      readIds.add(id)
      if (stored === undefined) {
        const lost = compare('suspense', id, 'present', 'missing')
        return withClient(clientOf(id), [...lost, ...(await auditLostMoney(id))])
      }
      const read = ifValid(SuspenseSchema, stored)
      const item = read && { ...read, suspenseId: id }
      if (item === undefined)
        return withClient(clientOf(id), compare('suspense', id, 'readable', 'unreadable'))
      return [
        ...withClient(item.clientId, await auditItem(deps, { item, stored }, byItem.get(id) ?? [])),
        ...(await compareWithNotes(deps, item, notesOf.get(id) ?? [])),
        ...withClient(item.clientId, await auditShownMoney(deps, item)),
      ]
    })
    differences.push(...judged.flat())
  }
  const auditLostMoney = async (id: string) => {
    const noted = notesOf.get(id)?.find((note) => note.noted)?.noted
    return noted ? auditShownMoney(deps, { ...noted, status: 'open' }) : []
  }
  const clientOf = (id: string) =>
    [...(notesOf.get(id) ?? []), ...(byItem.get(id) ?? [])].find(
      ({ clientId }) => clientId !== undefined,
    )?.clientId
  for await (const page of itemPages(deps, list)) await judge(page)
  // The index shows an item later than journal and register do: an item that only they name is read
  // by its key.
  const missingKeys = [...new Set([...byItem.keys(), ...notesOf.keys()])]
    .filter((id) => !readIds.has(id))
    .map(suspenseKey)
  await judge(keyedItems(missingKeys, await deps.table.getMany(missingKeys)))
  return differences
}

/** Derives an item from its operators' record and its entries in the house journal. */
async function auditItem(
  deps: StoreDeps,
  { item, stored }: { readonly item: Suspense; readonly stored: Item },
  entries: readonly HouseEntry[],
): Promise<readonly Difference[]> {
  const { suspenseId: id, kind } = item
  const suspenseEntry = entries.find(({ type }) => type === 'suspense')
  const { records, differences } = await readTrail(deps, id, item.clientId)
  const booked = { providerMinor: suspenseEntry?.providerMinor, ...backIn(item, entries) }
  const { dueAt } = Object(stored)
  const ofMoney = kind === 'money' ? booked : {}
  const derived = { ...item, ...ofMoney, ...resolutionOf(item, records), dueAt }
  return [
    ...differences,
    ...rowDifferences('suspense', id, suspenseRow(derived), stored),
    ...(suspenseEntry
      ? compare('house_entry.client_id', id, item.clientId, suspenseEntry.clientId)
      : []),
    ...onlyIf(
      dueAt !== undefined && !(dueAt >= item.createdAt && dueAt <= lastAlertAt(item, deps.now())),
      compare('suspense.due_at', id, 'until its alert is published', toValue(dueAt)),
    ),
    ...(kind === 'money'
      ? auditHeld(derived, entries)
      : compare('suspense.kind', id, suspenseEntry ? 'money' : kind, kind)),
  ]
}

/** What the provider's rows took back of held money. */
export function backIn(item: Suspense, entries: readonly HouseEntry[]): Partial<Suspense> {
  if (item.kind !== 'money') return {}
  const back = entries.filter(({ type }) => type === 'suspense_refunded')
  // The void of the money's own row shows no amount. It may be the void of another row of the money
  // than the row that was booked.
  const isVoid = back.some(({ amountMinor }) => amountMinor === undefined)
  const refunds = back.filter(({ amountMinor }) => amountMinor !== undefined)
  const again = entries.filter(({ type }) => type === 'reversal')
  const refunded = [...refunds, ...again].reduce((sum, one) => sum - one.suspenseMinor, 0)
  const isBack = isVoid || (refunded > 0 && refunded >= (item.amountMinor ?? 0))
  // Money that a payment was credited with never had an entry in suspense.
  const isOwnBooked = entries.some(({ type }) => type === 'suspense')
  const isCredited = item.resolution === 'credited' && !isOwnBooked
  return {
    refundedMinor: minor(refunded),
    isVoid: isVoid ? true : undefined,
    ...(isBack
      ? ({ status: 'resolved', resolution: 'refunded' } as const)
      : isCredited
        ? ({ status: 'resolved' } as const)
        : ({ status: 'open', resolution: undefined } as const)),
  }
}

const Resolved = v.pick(SuspenseSchema, ['status', 'resolution'])
const WithNotes = v.object({ notes: v.nullish(v.string()) })

/** What operators did with the item. Rows of the provider resolve an item without a record. */
function resolutionOf(item: Suspense, records: readonly AuditRecord[]): Partial<Suspense> {
  // News and time open and close a case too; it moves no money.
  if (item.kind === 'case') return {}
  const change = records.findLast(({ action }) => action === 'resolve-suspense')?.after
  const resolved = ifValid(Resolved, change)
  if (resolved) return { ...resolved, notes: ifValid(WithNotes, change)?.notes ?? undefined }
  if (isMoved(item)) return { status: 'resolved', resolution: 'explained' }
  if (item.kind === 'money') return {}
  return { status: 'open', resolution: undefined, notes: undefined }
}

/** The finding of a booked movement, which is resolved from the beginning. */
function isMoved({ cause }: Suspense): boolean {
  return MOVED_CAUSES.some((movedCause) => movedCause === cause)
}
