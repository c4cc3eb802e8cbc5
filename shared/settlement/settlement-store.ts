import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { requireRow } from '../field-errors.ts'
import { type ClientId, type SettlementId, SettlementIdSchema } from '../ids.ts'
import { ifValid, readRows } from '../if-valid.ts'
import type { Span } from '../journal/read-entries.ts'
import type { Window } from '../ledger/window-store.ts'
import type { Page } from '../page.ts'
import type { Item } from '../table/attributes.ts'
import { bankReferenceKey, idOf, rowKeysOf, settlementKey, windowKey } from '../table/keys.ts'
import { type ListPage, listItems, queryAll, queryPages } from '../table/list-items.ts'
import {
  absent,
  all,
  any,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  guard,
  isNew,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import { addMs, END_OF_TIME, type Timestamp, TimestampSchema } from '../time.ts'
import { ELIGIBLE_AGE_MS, periodOf, type Settlement, SettlementSchema } from './settlement.ts'
import { type EntrySums, SumProgressSchema } from './sum-entries.ts'

const ENTITY = 'settlement'

/** An absent id and another client's id throw the same 404 (spec 4.7). */
export async function findSettlement(deps: TableDeps, clientId: ClientId, id: string) {
  const item = await findItem(deps, id)
  if (item?.['clientId'] !== clientId) throw notFound('settlement')
  return v.parse(SettlementSchema, item)
}

/** For operators, who name no client. Throws 404, and 409 for a row that cannot be read. */
export async function findAnySettlement(deps: TableDeps, id: string): Promise<Settlement> {
  const item = await findItem(deps, id)
  if (item === undefined) throw notFound('settlement')
  return requireRow(SettlementSchema, item, 'settlement', id, item['owner'])
}

async function findItem(deps: TableDeps, id: string) {
  const settlementId = ifValid(SettlementIdSchema, id)
  return settlementId && deps.table.get(settlementKey(settlementId))
}

/** Newest period first (spec 4.6). */
export async function listSettlements(deps: TableDeps, clientId: ClientId, page: ListPage) {
  const list = { kind: 'SETTLEMENT', index: 'by-owner', partition: [clientId, ENTITY] } as const
  return readOwn(clientId, await listItems(deps, { ...list, page, reads: 'eventual' }))
}

export async function listSettlementsOf(
  deps: TableDeps,
  { clientId, status }: Pick<Settlement, 'clientId' | 'status'>,
  page: ListPage,
) {
  const partition = [clientId, ENTITY, status]
  const items = await listItems(deps, { kind: 'SETTLEMENT', index: 'by-status', partition, page })
  return readOwn(clientId, items)
}

/** An altered `owner` shows no other client's settlement. */
function readOwn(clientId: ClientId, items: readonly (Item | undefined)[]) {
  const isOwn = v.check((settlement: Settlement) => settlement.clientId === clientId)
  return readRows(v.pipe(SettlementSchema, isOwn), items)
}

/** A client's paid settlements, newest first, in pages, without unreadable ones. */
export async function* paidSettlements(deps: TableDeps, clientId: ClientId) {
  const partition = [clientId, ENTITY, 'manual_paid'] as const
  const pages = queryPages(deps, { index: 'by-status', partition, newestFirst: true, limit: 100 })
  for await (const { items } of pages)
    yield (await readSettlements(deps, settlementIdsOf(items), clientId)).settlements
}

/** By the key. A forged row must not stop the reader of a list; the client's audit names it. */
export function settlementIdsOf(items: readonly Item[]) {
  const ids = rowKeysOf('SETTLEMENT', items).map(({ pk }) => idOf(pk))
  return ids.flatMap((id) => ifValid(SettlementIdSchema, id) ?? [])
}

/** Settlements whose public period ends in a span, oldest first. The index may lack the newest. */
export async function settlementsEnding(
  deps: TableDeps,
  clientId: ClientId,
  between: readonly [Timestamp, Timestamp],
) {
  const list = { partition: [clientId, ENTITY], range: { between }, limit: 100 }
  const items = await queryAll(deps, { index: 'by-owner', ...list })
  return readSettlements(deps, settlementIdsOf(items), clientId)
}

/** A client's settlements that wait for their payout, oldest first. */
export async function recordedSettlements(deps: TableDeps, clientId: ClientId) {
  const partition = [clientId, ENTITY, 'recorded'] as const
  const items = await queryAll(deps, { index: 'by-status', partition, limit: 100 })
  return recordedAmong(deps, settlementIdsOf(items), clientId)
}

/** Those of the asked settlements that wait for their payout. */
export async function recordedAmong(
  deps: TableDeps,
  ids: readonly SettlementId[],
  owner?: ClientId,
) {
  const { settlements, unreadableIds } = await readSettlements(deps, ids, owner)
  return { settlements: settlements.filter(({ status }) => status === 'recorded'), unreadableIds }
}

/** `unreadableIds`: rows that cannot be read, or of another client. They stop no other payout. */
export async function readSettlements(
  deps: TableDeps,
  ids: readonly SettlementId[],
  owner?: ClientId,
) {
  const rows = await deps.table.getMany(ids.map(settlementKey))
  const read = ids.map((id, at) => {
    const settlement = ifValid(SettlementSchema, rows[at])
    const isOwn =
      settlement?.settlementId === id && [undefined, settlement.clientId].includes(owner)
    return { id, settlement: isOwn ? settlement : undefined }
  })
  return {
    settlements: read.flatMap(({ settlement }) => settlement ?? []),
    unreadableIds: read.flatMap(({ id, settlement }, at) => (rows[at] && !settlement ? id : [])),
  }
}

/** Strongly consistent, without missing settlements. */
export async function findSettlements(deps: TableDeps, ids: readonly SettlementId[]) {
  return (await deps.table.getMany(ids.map(settlementKey))).flatMap((item) =>
    item ? [v.parse(SettlementSchema, item)] : [],
  )
}

/**
 * Which settlements swept the journal from a time on, oldest first, also if rows cannot be read:
 * windows follow each other, so their ends are enough. The index may lack the newest.
 */
export async function sweepsFrom(
  deps: TableDeps,
  clientId: ClientId,
  { start, limit }: Pick<Span, 'start'> & { readonly limit: number },
) {
  const range = { between: [addMs(start, 1 - ELIGIBLE_AGE_MS), END_OF_TIME] } as const
  const list = { index: 'by-owner', partition: [clientId, ENTITY], range, limit } as const
  return (await deps.table.query(list)).items.flatMap((item) =>
    settlementIdsOf([item]).map((id) => ({ id, periodEnd: String(item['listedAt']) })),
  )
}

/** The payouts of all clients, newest first. */
export async function listPayouts(deps: TableDeps, page: Page) {
  const index = { index: 'by-due', partition: ['payout', 0] } as const
  const items = await listItems(deps, { kind: 'SETTLEMENT', ...index, page })
  return readRows(SettlementSchema, items)
}

export function putSettlement(settlement: Settlement): Step {
  return put(settlementKey(settlement.settlementId), settlementRow(settlement), isNew)
}

/** A recorded settlement is due to be paid out. */
export function settlementRow(settlement: Settlement) {
  const { settlementId: id, clientId: owner, createdAt, status } = settlement
  const listed = { owner, entity: ENTITY, listedAt: periodOf(settlement).end, id }
  const isDue = status === 'recorded'
  return { ...settlement, ...listed, ...(isDue && dueWork('payout', id, createdAt)) }
}

/**
 * Refused unless the settlement is `recorded` (spec 3.2) with the sums and the batch that were
 * read. The payout is then no longer due.
 */
export function markClosed(settlement: Settlement): Step {
  const { settlementId, status, settledAt, notes, bankReference } = settlement
  return update(
    settlementKey(settlementId),
    { set: { status, settledAt, notes, bankReference }, remove: DUE_WORK_FIELDS },
    isAsJudged(settlement, 'recorded'),
  )
}

function isAsJudged({ digest, batch }: Settlement, status: Settlement['status']) {
  return all(equals('status', status), equals('digest', digest), unchanged('batch', batch))
}

/** Refused when the settlement is no longer recorded, or its sums or its batch changed. */
export function claimForBatch(settlement: Settlement, number: number): Step {
  return update(
    settlementKey(settlement.settlementId),
    { set: { batch: number } },
    isAsJudged(settlement, 'recorded'),
  )
}

/** Refused when the sums or the settlement's state changed after the read. */
export function markRecredited(
  { settlementId, digest }: Pick<Settlement, 'settlementId' | 'digest'>,
  at: Timestamp,
): Step {
  return update(
    settlementKey(settlementId),
    { set: { recreditedAt: at } },
    all(equals('status', 'failed'), absent('recreditedAt'), equals('digest', digest)),
  )
}

/** Refused when the sums or the settlement's state changed after the read. */
export function requireState({ settlementId, status, digest }: Settlement): Step {
  return guard(settlementKey(settlementId), all(equals('status', status), equals('digest', digest)))
}

/** Refused unless the settlement is paid and its transfer has not come back yet. */
export function markReturned({ settlementId }: Settlement, at: Timestamp): Step {
  return update(
    settlementKey(settlementId),
    { set: { returnedAt: at } },
    all(equals('status', 'manual_paid'), absent('returnedAt')),
  )
}

/** The sums of a paid or re-credited settlement stay: they have left the window. */
export function mayChangeSums({ status, recreditedAt }: Settlement) {
  return status !== 'manual_paid' && recreditedAt === undefined
}

/** Refused when the sums, the state or the batch of the settlement changed after the read. */
export function correctSums(settlement: Settlement, sums: EntrySums): Step {
  const isSame = all(absent('recreditedAt'), isAsJudged(settlement, settlement.status))
  return update(settlementKey(settlement.settlementId), { set: sums }, isSame)
}

/** Refused when the reference has paid out another settlement. */
export function putBankReference(reference: string, settlementId: SettlementId): Step {
  const isOwn = any(isNew, equals('settlementId', settlementId))
  return put(bankReferenceKey(reference), bankReferenceRow(settlementId), isOwn)
}

export function bankReferenceRow(settlementId: SettlementId) {
  return { settlementId }
}

const ProgressSchema = v.object({
  ...SumProgressSchema.entries,
  start: TimestampSchema,
  settlementId: SettlementIdSchema,
  end: TimestampSchema,
})
type KeptProgress = Omit<v.InferOutput<typeof ProgressSchema>, 'start'>

/** Undefined if an earlier run summed an earlier window, or its progress cannot be read. */
export function keptProgress({ settledUntil, progress }: Window): KeptProgress | undefined {
  const sum = ifValid(ProgressSchema, progress)
  return sum?.start === settledUntil ? sum : undefined
}

/** Refused if another run swept the window, or stored progress, after the read. */
export async function keepProgress(
  deps: TableDeps,
  clientId: ClientId,
  window: WindowRead,
  sum: KeptProgress,
) {
  const progress = { start: window.settledUntil, ...sum }
  const changes = { set: { progress, progressNumber: (window.progressNumber ?? 0) + 1 } }
  await deps.table.write(update(windowKey(clientId), changes, isAsRead(window)))
}

type WindowRead = Pick<Window, 'settledUntil' | 'progressNumber'>

function isAsRead({ settledUntil, progressNumber }: WindowRead) {
  return all(equals('settledUntil', settledUntil), unchanged('progressNumber', progressNumber))
}

/** The next run sums the window from its start. Refused like `keepProgress`. */
export async function dropProgress(deps: TableDeps, clientId: ClientId, window: WindowRead) {
  const changes = { remove: ['progress', 'progressNumber'] as const }
  await deps.table.write(update(windowKey(clientId), changes, isAsRead(window)))
}
