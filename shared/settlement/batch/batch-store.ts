import * as v from 'valibot'
import type { TableDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import { MinorSchema } from '../../money.ts'
import {
  type AuditRecord,
  brokenLink,
  findAnyHead,
  readAuditRecords,
} from '../../operator/audit-record-store.ts'
import { batchKey, settlementKey } from '../../table/keys.ts'
import { exists, isNew, put, type Step, update } from '../../table/step.ts'
import { TimestampSchema } from '../../time.ts'
import { type Settlement, SettlementSchema } from '../settlement.ts'
import { type Batch, type BatchRow, BatchSchema, batchSubject, digestOf, isLive } from './batch.ts'

/**
 * What every decision about a batch is made from. Of a number that no batch has, and of a batch
 * whose row is lost or unreadable, the list is unknown.
 */
export async function findBatch(deps: TableDeps, number: number): Promise<Batch> {
  const read = await readChain(deps, number)
  // A record that was written after the head was read looks like a break.
  const { records, isBroken, last } = read.isBroken ? await readChain(deps, number) : read
  const { listDigest, ...said } = stateIn(records)
  const row = ifValid(BatchSchema, await deps.table.get(batchKey(number)))
  // It may be the record of its being ready that is lost.
  const isKnown = isList(row?.settlementIds, listDigest) && !(isBroken && listDigest === undefined)
  return {
    ...said,
    number,
    settlementIds: isKnown ? row?.settlementIds : undefined,
    createdAt: row?.createdAt,
    isBroken,
    last,
  }
}

async function readChain(deps: TableDeps, number: number) {
  const subject = batchSubject(number)
  const { head: last } = await findAnyHead(deps, subject)
  const { records } = await readAuditRecords(deps, subject)
  return { records, isBroken: brokenLink(records, last) !== undefined, last }
}

/** Whether it is the list of which the record has the digest; an open batch has none. */
export function isList(list: Batch['settlementIds'], digest: string | undefined) {
  return digest === undefined || digestOf(list ?? []) === digest
}

const OpenedRecord = v.object({
  after: v.object({ batch: v.number(), created_at: TimestampSchema }),
})

/** The batches that the register names, by number, and when they were opened. */
export function openedBatches(records: readonly AuditRecord[]) {
  const opened = records.flatMap((record) => ifValid(OpenedRecord, record) ?? [])
  return new Map(opened.map(({ after }) => [after.batch, after.created_at]))
}

const ReadyRecord = v.object({
  after: v.object({
    state: v.literal('ready'),
    total_minor: MinorSchema,
    digest: v.string(),
    list_digest: v.string(),
  }),
})

const UsedRecord = v.object({ after: v.object({ used_at: TimestampSchema }) })

/** What the records of a batch say of it. */
export function stateIn(records: readonly AuditRecord[]) {
  const ready = records.flatMap((record) => ifValid(ReadyRecord, record)?.after ?? []).at(-1)
  const isCancelled = records.some(({ after }) => after?.['state'] === 'cancelled')
  return {
    state: isCancelled ? 'cancelled' : ready ? 'ready' : 'open',
    usedAt: records.flatMap((record) => ifValid(UsedRecord, record)?.after.used_at ?? []).at(-1),
    totalMinor: ready?.total_minor,
    digest: ready?.digest,
    listDigest: ready?.list_digest,
  } as const
}

/**
 * The settlements of a batch in the order of its lines, without unreadable and missing ones. The
 * digest of a ready batch shows that one is left out.
 */
export async function settlementsIn(deps: TableDeps, batch: Pick<Batch, 'settlementIds'>) {
  const items = await settlementItemsIn(deps, batch)
  return items.flatMap((item) => ifValid(SettlementSchema, item) ?? [])
}

/** Each once, without those that are missing. */
export async function settlementItemsIn(
  deps: TableDeps,
  { settlementIds = [] }: Pick<Batch, 'settlementIds'>,
) {
  const items = await deps.table.getMany([...new Set(settlementIds)].map(settlementKey))
  return items.filter((item) => item !== undefined)
}

/**
 * The batch of a number if its file may have a line of the settlement. A batch whose list is
 * unknown may have each settlement that it claimed.
 */
export async function batchOf(deps: TableDeps, settlement: Settlement, number: number) {
  const batch = await findBatch(deps, number)
  const isIn = batch.settlementIds
    ? batch.settlementIds.includes(settlement.settlementId)
    : (await claimsOf(deps, settlement)).includes(number)
  return isIn ? batch : undefined
}

const ClaimRecord = v.object({
  action: v.literal('payout-file'),
  after: v.object({ batch: v.number() }),
})

async function claimsOf(deps: TableDeps, { settlementId }: Settlement) {
  const { records } = await readAuditRecords(deps, settlementId)
  return records.flatMap((record) => ifValid(ClaimRecord, record)?.after.batch ?? [])
}

/** The batch that claimed the settlement last, if it is live. */
export async function liveBatchOf(deps: TableDeps, settlement: Settlement) {
  const { batch: last } = settlement
  const batch = last === undefined ? undefined : await batchOf(deps, settlement, last)
  return batch && isLive(batch) ? batch : undefined
}

/** A live batch that may have its line besides its own one: an earlier one may be live again. */
export async function otherLiveBatch(
  deps: TableDeps,
  settlement: Settlement,
  own: number | undefined,
) {
  if (settlement.batch === undefined) return undefined
  for (const number of new Set([settlement.batch, ...(await claimsOf(deps, settlement))])) {
    const batch = number === own ? undefined : await batchOf(deps, settlement, number)
    if (batch && isLive(batch)) return batch
  }
  return undefined
}

export function openBatch(row: BatchRow): Step {
  return put(batchKey(row.number), row, isNew)
}

/** In the place of a row that is lost or unreadable: the batch's chain guards the change. */
export function putWithoutList(row: Omit<BatchRow, 'settlementIds'>): Step {
  return put(batchKey(row.number), row)
}

/** The batch's chain guards the change. */
export function setList(number: number, settlementIds: BatchRow['settlementIds']): Step {
  return update(batchKey(number), { set: { settlementIds } }, exists)
}
