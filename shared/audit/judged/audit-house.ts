import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import type { StoreDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { bookDay } from '../../journal/day-totals.ts'
import { HOUSE_SIDES, houseOf } from '../../journal/entry.ts'
import {
  type HouseEntry,
  type HouseTotal,
  houseEntriesOf,
  houseTotals,
} from '../../journal/house-store.ts'
import { ZERO } from '../../money.ts'
import {
  heldAmountOf,
  MOVED_CAUSES,
  type Suspense,
  SuspenseSchema,
} from '../../suspense/suspense.ts'
import { idOf, suspenseKey } from '../../table/keys.ts'
import { itemPages, type KeyedItem, keyedItems } from '../../table/list-items.ts'
import { GATEWAY_OWNER } from '../../table/schema.ts'
import { addMs, DAY_MS, msBetween, type Timestamp, TimestampSchema } from '../../time.ts'
import {
  compare,
  compareAll,
  type Difference,
  type HouseDifference,
  withClient,
} from '../../verdict/difference.ts'
import { compareWithNotes, type Note, readNotes } from './audit-registers.ts'
import { readTrail } from './client-books.ts'

/**
 * Compares the house journal with totals, and suspense with journal and register, both ways.
 * `unstable`: the journal changed during the read. `clientId`: only its suspense is complete.
 */
export async function auditHouse(
  deps: StoreDeps,
  clientId?: ClientId,
): Promise<readonly HouseDifference[] | 'unstable'> {
  const { entries, totals } = await readHouse(deps)
  const unequal = entries.flatMap(({ transactionId, type, ...entry }) => {
    const expected = houseOf({ ...entry, netMinor: ZERO })
    return compare(
      'house_entry.house_minor',
      `${transactionId}#${type}`,
      expected,
      entry.houseMinor,
    )
  })
  const found = [
    ...withClient(undefined, [...unequal, ...compareTotals(entries, totals)]),
    ...(await auditItems(deps, entries, await readNotes(deps, clientId))),
  ]
  if (found.length === 0) return found
  return isDeepStrictEqual((await readHouse(deps)).entries, entries) ? found : 'unstable'
}

const SIDE_BY_SIDE = 16

/** The sync reads rows that are at most 180 days older than the day of booking. */
const OLDEST_ROW_MS = 200 * DAY_MS

/** The few rows without a client, and suspense. */
async function readHouse(deps: StoreDeps) {
  const now = deps.now()
  const totals = await houseTotals(deps, { fromDay: '0', untilDay: '9' })
  const [firstTotal] = totals
  // A restore may have lost the total of the very first row.
  const start = startOfDay(
    (firstTotal ? addMs(startOfDay(firstTotal.day), -OLDEST_ROW_MS) : addMs(now, -DAY_MS)).slice(
      0,
      10,
    ),
  )
  // A row's date may be a little ahead of our clock.
  const count = Math.max(0, Math.floor(msBetween(start, addMs(now, DAY_MS)) / DAY_MS) + 1)
  const days = Array.from({ length: count }, (_, at) => addMs(start, at * DAY_MS).slice(0, 10))
  const entries = await mapInChunks(days, SIDE_BY_SIDE, (day) => houseEntriesOf(deps, day))
  return { entries: entries.flat(), totals }
}

function startOfDay(day: string): Timestamp {
  return v.parse(TimestampSchema, `${day}T00:00:00.000Z`)
}

function compareTotals(
  entries: readonly HouseEntry[],
  totals: readonly HouseTotal[],
): readonly Difference[] {
  const expected = Map.groupBy(entries, ({ postedAt, type }) => `${bookDay(postedAt)} ${type}`)
  const found = new Map(totals.map((total) => [`${total.day} ${total.type}`, total]))
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((name) => {
    const [rows, total] = [expected.get(name) ?? [], found.get(name)]
    return compareAll('house_total', name, [
      // Plain numbers, because a tampered side can exceed the range of money.
      ...HOUSE_SIDES.map(
        (side) =>
          [side, rows.reduce((sum, row) => sum + row[side], 0), total?.[side] ?? 0] as const,
      ),
      ['count', rows.length, total?.count ?? 0],
    ])
  })
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
      if (stored === undefined)
        return withClient(clientOf(id), compare('suspense', id, 'present', 'missing'))
      const item = ifValid(SuspenseSchema, stored)
      if (item === undefined)
        return withClient(clientOf(id), compare('suspense', id, 'readable', 'unreadable'))
      return [
        ...withClient(item.clientId, await auditItem(deps, item, byItem.get(id) ?? [])),
        ...(await compareWithNotes(deps, item, notesOf.get(id) ?? [])),
      ]
    })
    differences.push(...judged.flat())
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

/** Compares an item with its audit record, both ways, and with its entries in the house journal. */
async function auditItem(deps: StoreDeps, item: Suspense, entries: readonly HouseEntry[]) {
  const { suspenseId: id, kind, amountMinor = ZERO, postedMinor, refundedMinor } = item
  const suspenseEntry = entries.find(({ type }) => type === 'suspense')
  const heldMinor = entries.reduce((sum, { suspenseMinor }) => sum + suspenseMinor, 0)
  const refundState = refundedMinor !== undefined || item.isVoid === true ? 'booked' : 'none'
  const hasRefundEntry = entries.some(
    ({ type, transactionId }) => type === 'suspense_refunded' && transactionId !== id,
  )
  const { records, differences } = await readTrail(deps, id)
  const change = records.findLast(({ action }) => action === 'resolve-suspense')?.after
  const expected = change && String(change['resolution'])
  const bookedMinor = suspenseEntry?.suspenseMinor
  // Until the item's own row has settled, no figure of an entry shows what was refunded.
  const isUnknown = refundState === 'none' && isByOperator(item)
  return [
    ...differences,
    ...compare(
      'suspense.resolution',
      id,
      expected,
      isByOperator(item) ? item.resolution : undefined,
    ),
    ...(kind === 'money'
      ? compareAll('suspense', id, [
          ['posted_minor', bookedMinor, postedMinor],
          [
            'amount_minor',
            refundedMinor === undefined ? (bookedMinor ?? amountMinor) : amountMinor,
            amountMinor,
          ],
          ['held_minor', heldAmountOf(item), heldMinor],
          ['refunded_minor', hasRefundEntry && !isUnknown ? 'booked' : 'none', refundState],
        ])
      : compare('suspense.kind', id, suspenseEntry ? 'money' : kind, kind)),
  ]
}

function isByOperator({ status, resolution, cause }: Suspense): boolean {
  return (
    status === 'resolved' &&
    resolution !== 'refunded' &&
    !MOVED_CAUSES.some((movedCause) => movedCause === cause)
  )
}
