import * as v from 'valibot'
import { chunks, mapInChunks } from '../../chunks.ts'
import type { Deps, StoreDeps, TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { HouseEntry } from '../../journal/house-store.ts'
import { minor } from '../../money.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { lastAlertAt } from '../../suspense/dispute.ts'
import {
  isMoved,
  NotedSchema,
  type Suspense,
  SuspenseSchema,
  saidById,
} from '../../suspense/suspense.ts'
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
import type { Note } from './audit-registers.ts'
import { readTrail } from './audit-trails.ts'
import { saidAs } from './derive-client.ts'
import { auditShownMoney } from './judge-shown.ts'

const SIDE_BY_SIDE = 16

const PAGE = 100

type List = 'open' | DaySpan

const State = v.object({ list: v.number(), cursor: v.record(v.string(), v.unknown()) })

export type Judged = {
  readonly lists: readonly List[]
  readonly named: ReadonlySet<string>
  /** Its register has the named items, and no other client's are judged; absent: all clients'. */
  readonly clientId?: ClientId
  readonly state: unknown
  readonly isOver: () => boolean
}

/**
 * Judges listed suspense page by page, and then `named`. The entries of a few items are older or
 * newer than `entries`, so a page with a difference is judged again with the whole journal.
 * `state`: `isOver` ended the run before the last page.
 */
export async function judgeSuspense(
  deps: StoreDeps & Pick<Deps, 'sleep'>,
  entries: readonly HouseEntry[],
  judged: Judged,
) {
  const { lists, named, state, isOver } = judged
  const differences: Difference[] = []
  const readIds = new Set<string>()
  const judge = async (ids: readonly string[]) => {
    const newIds = ids.filter((id) => !readIds.has(id))
    for (const id of newIds) readIds.add(id)
    if ((await judgeById(deps, newIds, entries, judged)).length === 0) return
    const confirmed = await confirmedDifferences(deps, async () =>
      judgeById(deps, newIds, (await readHouse(deps)).entries, judged),
    )
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
  const rows = (await Array.fromAsync(chunks(notes, PAGE), (some) => rowsOf(deps, some))).flat()
  const judged = await mapInChunks(rows, SIDE_BY_SIDE, async (row) => {
    const { id, clientId, item, stored } = row
    if (!item || !stored) return withClient(clientId, await auditUnread(deps, row))
    // Its lists may not have it.
    const dueAt = ifValid(TimestampSchema, stored['dueAt'])
    const derived = suspenseRow({ ...item, ...notedIn(row), ...saidById(id), dueAt })
    const own = [...rowDifferences('suspense', id, derived, stored), ...auditNote(row)]
    return withClient(clientId, own)
  })
  return judged.flat()
}

/** Each item with its row in the register; the register's other rows are judged by themselves. */
async function judgeById(
  deps: StoreDeps,
  ids: readonly string[],
  allEntries: readonly HouseEntry[],
  { named, clientId: owner }: Judged,
) {
  const byItem = Map.groupBy(allEntries, ({ suspenseId }) => suspenseId)
  const read = await rowsOf(
    deps,
    ids.map((id) => ({ id })),
  )
  const rows = read.flatMap((row) => {
    if (owner && !named.has(row.id) && row.item?.clientId !== owner) return []
    const entries = byItem.get(row.id) ?? []
    const witness = row.item ?? entries.find(({ clientId }) => clientId !== undefined)
    return [{ ...row, entries, clientId: owner ?? witness?.clientId }]
  })
  const keys = rows.map(({ id: suspenseId, clientId }) => notedKey({ suspenseId, clientId }))
  const register = await deps.table.getMany(keys)
  const notedRows = rows.map((row, at) => ({ ...row, note: register[at] }))
  const found = await mapInChunks(notedRows, SIDE_BY_SIDE, async (row) => {
    const { clientId, item, stored = {} } = row
    const own = item
      ? [
          ...(await auditItem(deps, { ...row, item, stored })),
          ...(await auditShownMoney(deps, item)),
          ...(await auditMoved(deps, [item])),
          ...auditNote(row),
        ]
      : await auditUnread(deps, row)
    return withClient(clientId, own)
  })
  return found.flat()
}

/** `item`: undefined if it is missing or unreadable. */
async function rowsOf<Named extends Pick<Note, 'id'>>(deps: TableDeps, named: readonly Named[]) {
  const rows = await deps.table.getMany(named.map(({ id }) => suspenseKey(id)))
  return named.map((one, at) => {
    const [stored, read] = [rows[at], ifValid(SuspenseSchema, rows[at])]
    return { ...one, stored, item: read && { ...read, suspenseId: one.id } }
  })
}

type WithNote = { readonly id: string; readonly note: Item | undefined }
type Unread = WithNote & { readonly stored: Item | undefined }

const NOTED_FIELDS = v.keyof(NotedSchema).options

/** With its absent fields. Undefined if the row of the register is missing or unreadable. */
function notedIn({ id, note }: WithNote) {
  const noted = ifValid(NotedSchema, note)
  if (noted?.suspenseId !== id) return undefined
  return { ...Object.fromEntries(NOTED_FIELDS.map((field) => [field, undefined])), ...noted }
}

/** The item is compared with this row, so this row only with what the id says. */
function auditNote({ id, note }: WithNote) {
  if (note === undefined) return missingRow('noted', id)
  const noted = notedIn({ id, note })
  return noted
    ? rowDifferences('noted', id, { ...noted, ...saidById(id) }, note)
    : unreadableRow('noted', id)
}

async function auditUnread(deps: StoreDeps, { stored, ...row }: Unread) {
  if (stored) return unreadableRow('suspense', row.id)
  const noted = notedIn(row)
  const shown = noted ? await auditShownMoney(deps, { ...noted, status: 'open' }) : []
  return [...missingRow('suspense', row.id), ...shown]
}

/** Derives an item from its row in the register, its operators' record and its entries. */
async function auditItem(
  deps: StoreDeps,
  {
    item,
    stored,
    entries,
    ...row
  }: WithNote & {
    readonly item: Suspense
    readonly stored: Item
    readonly entries: readonly HouseEntry[]
  },
) {
  const { suspenseId: id, kind } = item
  const suspenseEntry = entryOfMoney(entries)
  const { records, differences } = await readTrail(deps, id, item.clientId)
  const { dueAt } = Object(stored)
  const derived = { ...derivedItem({ ...item, ...notedIn(row) }, entries, records), dueAt }
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

/** The item with what its id, its entries and its operators' records say of it. */
export function derivedItem(
  born: Suspense,
  entries: readonly HouseEntry[],
  records: readonly AuditRecord[],
): Suspense {
  const item = { ...born, ...saidById(born.suspenseId) }
  // Without its entry a row of the provider counts as not booked: the sync books it again.
  const { providerMinor } = entryOfMoney(entries) ?? {}
  const ofMoney = item.kind === 'money' ? { providerMinor, ...backIn(item, entries) } : {}
  return { ...item, ...ofMoney, ...resolutionOf(item, records) }
}

function entryOfMoney(entries: readonly HouseEntry[]) {
  return entries.find(({ type }) => type === 'suspense')
}

/** What the provider's rows took back of held money. */
function backIn(item: Suspense, entries: readonly HouseEntry[]): Partial<Suspense> {
  const back = entries.filter(({ type }) => type === 'suspense_refunded')
  // The void of the money's own row shows no amount. It may be the void of another row of the money
  // than the row that was booked.
  const isVoid = back.some(({ amountMinor }) => amountMinor === undefined)
  const refunds = back.filter(({ amountMinor }) => amountMinor !== undefined)
  const again = entries.filter(({ type }) => type === 'reversal')
  const refunded = [...refunds, ...again].reduce((sum, one) => sum - one.suspenseMinor, 0)
  const isBack = isVoid || (refunded > 0 && refunded >= (item.amountMinor ?? 0))
  // Money that a payment was credited with never had an entry in suspense.
  const isCredited = item.resolution === 'credited' && entryOfMoney(entries) === undefined
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
