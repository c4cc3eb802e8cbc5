import * as v from 'valibot'
import { chunks, mapInChunks } from '../../chunks.ts'
import type { TableDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import { MinorSchema } from '../../money.ts'
import {
  type AuditRecord,
  findAuditHead,
  readAuditRecords,
} from '../../operator/audit-record-store.ts'
import type { Item } from '../../table/attributes.ts'
import { batchKey, settlementKey } from '../../table/keys.ts'
import {
  absent,
  all,
  any,
  equals,
  isNew,
  put,
  type Step,
  unchanged,
  update,
} from '../../table/step.ts'
import { type Timestamp, TimestampSchema } from '../../time.ts'
import { type Settlement, SettlementSchema } from '../settlement.ts'
import { BATCHES_SUBJECT, type Batch, BatchSchema, batchSubject, holds } from './batch.ts'

/** Undefined for a number that no batch has, and for a batch whose row is lost or unreadable. */
export async function findBatch(deps: TableDeps, number: number): Promise<Batch | undefined> {
  return ifValid(BatchSchema, await deps.table.get(batchKey(number)))
}

/** The end of the register. Its number is the number of the last batch. */
export function findLastBatch(deps: TableDeps) {
  return findAuditHead(deps, BATCHES_SUBJECT)
}

const OpenedRecord = v.object({
  after: v.object({ batch: v.number(), created_at: TimestampSchema }),
})

/** The batches that the register names, by number, and when they were opened. */
export function openedBatches(records: readonly AuditRecord[]): ReadonlyMap<number, Timestamp> {
  const opened = records.flatMap((record) => ifValid(OpenedRecord, record) ?? [])
  return new Map(opened.map(({ after }) => [after.batch, after.created_at]))
}

const ReadyRecord = v.object({
  after: v.object({ state: v.literal('ready'), total_minor: MinorSchema, digest: v.string() }),
})

const UsedRecord = v.object({ after: v.object({ used_at: TimestampSchema }) })

/** What the records of a batch say of it. */
export function stateIn(
  records: readonly AuditRecord[],
): Pick<Batch, 'state' | 'usedAt' | 'totalMinor' | 'digest'> {
  const ready = records.flatMap((record) => ifValid(ReadyRecord, record)?.after ?? []).at(-1)
  const isCancelled = records.some(({ after }) => after?.['state'] === 'cancelled')
  return {
    state: isCancelled ? 'cancelled' : ready ? 'ready' : 'open',
    usedAt: records.flatMap((record) => ifValid(UsedRecord, record)?.after.used_at ?? []).at(-1),
    totalMinor: ready?.total_minor,
    digest: ready?.digest,
  }
}

/** The ids in the row, also if its other attributes cannot be read. None if the row is lost. */
export async function settlementIdsIn(
  deps: TableDeps,
  number: number,
): Promise<Batch['settlementIds']> {
  const item = await deps.table.get(batchKey(number))
  return ifValid(v.pick(BatchSchema, ['settlementIds']), item)?.settlementIds ?? []
}

/**
 * The settlements of a batch in the order of its lines, without unreadable and missing ones. The
 * digest of a ready batch shows that one is left out.
 */
export async function settlementsIn(
  deps: TableDeps,
  batch: Pick<Batch, 'settlementIds'>,
): Promise<readonly Settlement[]> {
  const items = await settlementItemsIn(deps, batch)
  return items.flatMap((item) => ifValid(SettlementSchema, item) ?? [])
}

/** Without those that are missing. */
export async function settlementItemsIn(
  deps: TableDeps,
  { settlementIds }: Pick<Batch, 'settlementIds'>,
): Promise<readonly Item[]> {
  const pages = await mapInChunks(chunks(settlementIds, READ_AT_ONCE), 1, (ids) =>
    deps.table.getMany(ids.map(settlementKey)),
  )
  return pages.flat().filter((item) => item !== undefined)
}

const READ_AT_ONCE = 100

export type LiveBatch = Pick<Batch, 'number'> & Partial<Batch>

/**
 * The live batch that holds a settlement. A batch that claimed it, and whose row is lost or
 * unreadable, counts as live until an operator cancels it; its records say whether it is used.
 */
export async function liveBatchOf(
  deps: TableDeps,
  settlement: Settlement,
): Promise<LiveBatch | undefined> {
  const { batch: number } = settlement
  if (number === undefined) return undefined
  const batch = await findBatch(deps, number)
  if (batch) return holds(batch, settlement) ? batch : undefined
  if (!(await claimsOf(deps, settlement)).includes(number)) return undefined
  const { records } = await readAuditRecords(deps, batchSubject(number))
  return { number, usedAt: stateIn(records).usedAt }
}

const ClaimRecord = v.object({
  action: v.literal('payout-file'),
  after: v.object({ batch: v.number() }),
})

async function claimsOf(deps: TableDeps, { settlementId }: Settlement) {
  const { records } = await readAuditRecords(deps, settlementId)
  return records.flatMap((record) => ifValid(ClaimRecord, record)?.after.batch ?? [])
}

/**
 * An earlier batch of a settlement that was cancelled, although the bank has its file. A batch
 * whose row is lost or unreadable may be such a batch. The records of the settlement name each
 * batch that has claimed it.
 */
export async function usedBatchOf(
  deps: TableDeps,
  settlement: Settlement,
): Promise<LiveBatch | undefined> {
  const { batch: last } = settlement
  if (last === undefined) return undefined
  for (const number of new Set(await claimsOf(deps, settlement))) {
    if (number === last) continue
    const batch = await findBatch(deps, number)
    if (batch === undefined) return { number }
    if (batch.state === 'cancelled' && holds(batch, settlement)) return batch
  }
  return undefined
}

export function openBatch(batch: Batch): Step {
  return put(batchKey(batch.number), batch, isNew)
}

/** In the place of a row that is lost or unreadable. Refused if the row has changed since. */
export async function putInPlace(deps: TableDeps, batch: Batch): Promise<Step> {
  const item = await deps.table.get(batchKey(batch.number))
  return put(batchKey(batch.number), batch, item ? unchanged('state', item['state']) : isNew)
}

/** Refused unless the batch is still open. */
export function markReady({ number, settlementIds, totalMinor, digest }: Batch): Step {
  return update(
    batchKey(number),
    { set: { state: 'ready', settlementIds, totalMinor, digest } },
    equals('state', 'open'),
  )
}

/** Refused if it is cancelled already, or the bank's answer came meanwhile. */
export function markCancelled({ number }: Pick<Batch, 'number'>): Step {
  return update(batchKey(number), { set: { state: 'cancelled' } }, all(IS_LIVE, IS_UNUSED))
}

const IS_LIVE = any(equals('state', 'open'), equals('state', 'ready'))
const IS_UNUSED = absent('usedAt')

/**
 * With the first answer to the file, or with the first payout. Refused if the batch was cancelled,
 * made ready or used meanwhile.
 */
export function markUsed(
  { number, state }: Pick<Batch, 'number' | 'state'>,
  usedAt: Timestamp,
): Step {
  return update(batchKey(number), { set: { usedAt } }, all(equals('state', state), IS_UNUSED))
}
