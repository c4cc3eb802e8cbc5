import * as v from 'valibot'
import { chunks, mapInChunks } from '../../chunks.ts'
import type { Deps, StoreDeps, TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { HouseEntry } from '../../journal/house-store.ts'
import { minor } from '../../money.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { lastAlertAt } from '../../suspense/dispute.ts'
import { isMoved, type Suspense, SuspenseSchema, saidById } from '../../suspense/suspense.ts'
import { suspenseRow } from '../../suspense/suspense-store.ts'
import type { Item } from '../../table/attributes.ts'
import { idOf, notedKey, rowKeysOf, suspenseKey } from '../../table/keys.ts'
import { queryPages } from '../../table/list-items.ts'
import { GATEWAY_OWNER } from '../../table/schema.ts'
import type { QueryPage } from '../../table/table.ts'
import { TimestampSchema } from '../../time.ts'
import {
  compare,
  confirmedDifferences,
  type Difference,
  missingRow,
  onlyIf,
  toValue,
  unreadableRow,
  withClient,
} from '../../verdict/difference.ts'
import { auditHeld } from '../rows/audit-legs.ts'
import { auditMoved } from '../rows/audit-moved.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { type DaySpan, readHouse } from './audit-journal.ts'
import { compareWithNotes, type Note, notedIn } from './audit-registers.ts'
import { readTrail } from './audit-trails.ts'
import { saidAs } from './derive-client.ts'
import { auditShownMoney } from './judge-shown.ts'

const SIDE_BY_SIDE = 16

const PAGE = 100

type List = 'open' | DaySpan

const State = v.object({ list: v.number(), cursor: v.record(v.string(), v.unknown()) })

/**
 * Judges listed suspense page by page, and then `named`. The entries of a few items are older or
 * newer than `entries`, so an item with a difference is judged again with the whole journal.
 * `state`: `isOver` ended the run before the last page.
 */
export async function judgeSuspense(
  deps: StoreDeps & Pick<Deps, 'sleep'>,
  entries: readonly HouseEntry[],
  {
    lists,
    named,
    clientId,
    state,
    isOver,
  }: {
    readonly lists: readonly List[]
    readonly named: ReadonlySet<string>
    readonly clientId?: ClientId | undefined
    readonly state: unknown
    readonly isOver: () => boolean
  },
) {
  const differences: Difference[] = []
  const readIds = new Set<string>()
  const judge = async (ids: readonly string[]) => {
    const newIds = ids.filter((id) => !readIds.has(id))
    for (const id of newIds) readIds.add(id)
    const judged = await judgeById(deps, newIds, { entries, clientId })
    const wrong = judged.flatMap((one) => (one.differences.length > 0 ? [one.id] : []))
    if (wrong.length === 0) return
    const confirmed = await confirmedDifferences(deps, async () => {
      const again = await judgeById(deps, wrong, { ...(await readHouse(deps)), clientId })
      return again.flatMap((one) => one.differences)
    })
    differences.push(...confirmed)
  }
  const from = ifValid(State, state)
  for (const [at, list] of lists.entries()) {
    if (from && at < from.list) continue
    const pages = pagesOf(deps, list, at === from?.list ? from.cursor : undefined)
    for await (const { items, cursor } of pages) {
      await judge(rowKeysOf('SUSPENSE', items).map(({ pk }) => idOf(pk)))
      if (cursor && isOver()) return { differences, state: { list: at, cursor } }
    }
  }
  for (const ids of chunks([...named], PAGE)) await judge(ids)
  return { differences }
}

function pagesOf(deps: TableDeps, list: List, cursor: QueryPage['cursor']) {
  if (list === 'open') {
    const partition = [GATEWAY_OWNER, 'suspense', 'open'] as const
    return queryPages(deps, { index: 'by-status', partition, limit: PAGE, cursor })
  }
  const partition = [GATEWAY_OWNER, 'suspense'] as const
  const range = { between: [list[0], `${list[1]}~`] } as const
  return queryPages(deps, { index: 'by-owner', partition, range, limit: PAGE, cursor })
}

/** The items that rows of the register name are there, and are as these rows say. */
export async function auditNotes(deps: StoreDeps, notes: readonly Note[]) {
  const pages = chunks([...new Set(notes.map(({ id }) => id))], PAGE)
  const rows = (await Array.fromAsync(pages, (ids) => rowsOf(deps, ids))).flat()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const judged = await mapInChunks(notes, SIDE_BY_SIDE, async (note) => {
    const { id } = note
    const { item, stored } = byId.get(id) ?? {}
    if (!item || !stored) return auditUnread(deps, { id, stored, notes: [note], entries: [] })
    // Its lists may not have it.
    const row = suspenseRow({ ...item, dueAt: ifValid(TimestampSchema, stored['dueAt']) })
    return [
      ...withClient(item.clientId, rowDifferences('suspense', id, row, stored)),
      ...(await compareWithNotes(deps, item, [note])),
    ]
  })
  return judged.flat()
}

/** Each item with its row in the register; the register's other rows are judged by themselves. */
async function judgeById(
  deps: StoreDeps,
  ids: readonly string[],
  {
    entries: allEntries,
    clientId: onlyClient,
  }: { readonly entries: readonly HouseEntry[]; readonly clientId: ClientId | undefined },
) {
  const byItem = Map.groupBy(allEntries, ({ suspenseId }) => suspenseId)
  const rows = (await rowsOf(deps, ids))
    .filter(({ item }) => !onlyClient || !item || item.clientId === onlyClient)
    .map((row) => {
      const entries = byItem.get(row.id) ?? []
      return { ...row, entries, clientId: row.stored ? row.item?.clientId : ownerIn(entries) }
    })
  const keys = rows.map(({ id: suspenseId, clientId }) => notedKey({ suspenseId, clientId }))
  const register = await deps.table.getMany(keys)
  const notedRows = rows.map((row, at) => {
    const note = register[at]
    return { ...row, notes: note ? [{ ...row, noted: notedIn(note) }] : [] }
  })
  return mapInChunks(notedRows, SIDE_BY_SIDE, async (row) => {
    const { id, item, stored = {}, entries, notes } = row
    if (item === undefined) return { id, differences: await auditUnread(deps, row) }
    const own = [
      ...(await auditItem(deps, { item, stored }, entries)),
      ...(await auditShownMoney(deps, item)),
      ...(await auditMoved(deps, [item])),
    ]
    const ofNotes = await compareWithNotes(deps, item, notes)
    return { id, differences: [...withClient(item.clientId, own), ...ofNotes] }
  })
}

/** `item`: undefined if it is missing or unreadable. */
async function rowsOf(deps: TableDeps, ids: readonly string[]) {
  const rows = await deps.table.getMany(ids.map(suspenseKey))
  return ids.map((id, at) => {
    const [stored, read] = [rows[at], ifValid(SuspenseSchema, rows[at])]
    return { id, stored, item: read && { ...read, suspenseId: id } }
  })
}

function ownerIn(witnesses: readonly { readonly clientId?: string | undefined }[]) {
  return witnesses.find(({ clientId }) => clientId !== undefined)?.clientId
}

async function auditUnread(
  deps: StoreDeps,
  {
    id,
    stored,
    notes,
    entries,
  }: {
    readonly id: string
    readonly stored: Item | undefined
    readonly notes: readonly Note[]
    readonly entries: readonly HouseEntry[]
  },
) {
  const notedItem = stored ? undefined : notes.find((note) => note.noted)?.noted
  const found = stored ? unreadableRow('suspense', id) : missingRow('suspense', id)
  const shown = notedItem ? await auditShownMoney(deps, { ...notedItem, status: 'open' }) : []
  return withClient(ownerIn([...notes, ...entries]), [...found, ...shown])
}

/** Derives an item from its operators' record and its entries in the house journal. */
async function auditItem(
  deps: StoreDeps,
  { item, stored }: { readonly item: Suspense; readonly stored: Item },
  entries: readonly HouseEntry[],
) {
  const { suspenseId: id, kind } = item
  const suspenseEntry = entries.find(({ type }) => type === 'suspense')
  const { records, differences } = await readTrail(deps, id, item.clientId)
  const booked = { providerMinor: suspenseEntry?.providerMinor, ...backIn(item, entries) }
  const { dueAt } = Object(stored)
  const ofMoney = kind === 'money' ? booked : {}
  const said = saidById(id)
  const derived = { ...item, ...said, ...ofMoney, ...resolutionOf(item, records), dueAt }
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

/** What operators did with the item. Rows of the provider resolve an item without a record. */
function resolutionOf(item: Suspense, records: readonly AuditRecord[]): Partial<Suspense> {
  // News and time open and close a case too; it moves no money.
  if (item.kind === 'case') return {}
  const resolved = resolvedIn(records)
  if (resolved) return resolved
  if (isMoved(item)) return { status: 'resolved', resolution: 'explained' }
  if (item.kind === 'money') return {}
  return { status: 'open', resolution: undefined, notes: undefined }
}

const Resolved = v.pick(SuspenseSchema, ['status', 'resolution', 'notes'])

/** The state that the last record of an operator's resolution says. */
export function resolvedIn(records: readonly AuditRecord[]) {
  const record = records.findLast(({ action }) => action === 'resolve-suspense')
  const said = record && saidAs(Resolved, record.after)
  return said && { notes: undefined, ...said }
}
