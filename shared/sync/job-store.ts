import * as v from 'valibot'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import { ifValid, readableRows, readRows } from '../if-valid.ts'
import { fieldsText } from '../journal/entry.ts'
import { type ProviderTransaction, ProviderTransactionSchema } from '../provider/provider.ts'
import type { Settlement } from '../settlement/settlement.ts'
import type { Item } from '../table/attributes.ts'
import { idOf, syncJobKey } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import {
  absent,
  all,
  any,
  below,
  DUE_WORK_FIELDS,
  dueWork,
  unchanged,
  update,
} from '../table/step.ts'
import { UPSTREAM } from '../table/upstream.ts'
import {
  addMs,
  DAY_MS,
  expiresAfter,
  HOUR_MS,
  later,
  MINUTE_MS,
  msBetween,
  type Timestamp,
  TimestampSchema,
} from '../time.ts'

/** The planning position: every row updated before `position` is in a slice or has been read. */
export const HeadSchema = v.object({
  position: TimestampSchema,
  /** Counts planned rounds. Its condition refuses one of two concurrent planners. */
  round: v.number(),
  /** When the reversals of the last 180 days are read next. */
  reversalsAt: TimestampSchema,
})
export type Head = v.InferOutput<typeof HeadSchema>

/** A worker claims a job by moving its due time to the end of a lease. */
const DueJobSchema = v.object({ id: v.string(), dueAt: TimestampSchema })
export type DueJob = v.InferOutput<typeof DueJobSchema>

const SliceSchema = v.object({
  ...DueJobSchema.entries,
  /**
   * `head`: by update time. The others, of which `others` and `day` are the second net: by
   * creation.
   */
  kind: v.picklist(['head', 'tail', 'reversals', 'others', 'day']),
  from: TimestampSchema,
  to: TimestampSchema,
  category: v.optional(v.string()),
  afterId: v.optional(v.string()),
  reads: v.optional(v.number(), 0),
  /** How often the provider has refused a page of the slice. */
  tries: v.optional(v.number()),
  /** Tail: the latest expected settlement of the open transactions in this reading. */
  openUntil: v.optional(TimestampSchema),
})
export type Slice = v.InferOutput<typeof SliceSchema>

/** An undecided row, for example without a provider answer. The sync checks it again alone. */
const OpenTransactionSchema = v.object({
  ...DueJobSchema.entries,
  kind: v.literal('open'),
  tries: v.number(),
  transaction: ProviderTransactionSchema,
})
export type OpenTransaction = v.InferOutput<typeof OpenTransactionSchema>

export const SyncJobSchema = v.variant('kind', [SliceSchema, OpenTransactionSchema])
export type SyncJob = v.InferOutput<typeof SyncJobSchema>

/** Longer than one page takes. Another worker takes over a slice after its lease has expired. */
export const LEASE_MS = 5 * MINUTE_MS
const DONE_JOB_KEPT_MS = 7 * DAY_MS
const ASK_AGAIN_MS = 2 * MINUTE_MS

/**
 * The backoff of a job that gets no answer: it doubles from two minutes to one hour, or to a 48th
 * part of the age of its row.
 */
export function nextTryAt({ now }: Pick<StoreDeps, 'now'>, tries: number, rowAt = now()) {
  const longestMs = Math.max(HOUR_MS, Math.floor(msBetween(rowAt, now()) / 48))
  return addMs(now(), Math.min(longestMs, ASK_AGAIN_MS * 2 ** Math.min(tries, 10)))
}

/** Whether a job with this row waits for a worker, or a worker has it. */
export function isUnfinished(row: Item | undefined): boolean {
  return row?.['work'] !== undefined
}

type JobDeps = StoreDeps & Pick<Deps, 'log'>

/** Oldest first, by their keys. The index may be stale; the claim decides. */
export async function findDueJobs(deps: JobDeps, limit: number): Promise<readonly DueJob[]> {
  const range = { atMost: deps.now() }
  const { items } = await deps.table.query({
    index: 'by-due',
    partition: ['sync', 0],
    range,
    limit,
  })
  const jobs = items.map((item) => ({ ...item, id: idOf(String(item['pk'])) }))
  return readableRows(deps, 'sync_job', readRows(DueJobSchema, jobs))
}

/** Whether a worker has a slice of the head, or such a slice waits, which is an hour at most. */
export async function isHeadUnread(deps: StoreDeps): Promise<boolean> {
  const range = { atMost: addMs(deps.now(), HOUR_MS) }
  const list = { index: 'by-due', partition: ['sync', 0], range, limit: 1_000 } as const
  for await (const { items } of queryPages(deps, list))
    if (items.some(({ pk }) => idOf(String(pk)).startsWith('head#'))) return true
  return false
}

/**
 * Undefined: another worker has the job, or the job is done. A job of a later release stops no
 * other job, and is due again when its lease has expired.
 */
export async function claimJob(deps: JobDeps, due: DueJob): Promise<SyncJob | undefined> {
  const dueAt = addMs(later(deps.now(), due.dueAt), LEASE_MS)
  const step = update(syncJobKey(due.id), { set: { dueAt } }, isAsClaimed(due))
  const { applied, item } = await deps.table.write(step)
  if (!applied || !item) return undefined
  return readableRows(deps, 'sync_job', readRows(SyncJobSchema, [{ ...item, id: due.id }]))[0]
}

/** Refused after another claim or the end of the job, which change its due time. */
function isAsClaimed({ dueAt }: Item) {
  return unchanged('dueAt', dueAt)
}

/** Renews the lease too. Undefined: another worker has claimed the slice. */
export async function keepPosition(
  deps: StoreDeps,
  slice: Slice,
  progress: Pick<Slice, 'afterId' | 'openUntil'>,
): Promise<Slice | undefined> {
  // Always a later time, because the due time distinguishes one claim from the next claim.
  const dueAt = addMs(later(deps.now(), addMs(slice.dueAt, 1 - LEASE_MS)), LEASE_MS)
  const remove = progress.afterId === undefined ? (['afterId'] as const) : []
  const step = update(
    syncJobKey(slice.id),
    { set: { ...progress, dueAt }, remove },
    isAsClaimed(slice),
  )
  const { applied } = await deps.table.write(step)
  return applied ? { ...slice, ...progress, dueAt } : undefined
}

export function releaseJob(deps: TableDeps, job: SyncJob, dueAt: Timestamp) {
  const changes = { set: { dueAt, tries: job.tries } }
  return deps.table.write(update(syncJobKey(job.id), changes, isAsClaimed(job)))
}

export function finishJob(deps: StoreDeps, job: SyncJob, reads?: number) {
  const set = { ttl: expiresAfter(deps.now(), DONE_JOB_KEPT_MS), reads }
  const changes = { set, remove: DUE_WORK_FIELDS }
  return deps.table.write(update(syncJobKey(job.id), changes, isAsClaimed(job)))
}

export function scheduleReading(deps: TableDeps, slice: Slice, dueAt: Timestamp) {
  const step = update(
    syncJobKey(slice.id),
    { set: { dueAt, reads: slice.reads + 1 }, remove: ['afterId', 'openUntil', 'tries'] },
    isAsClaimed(slice),
  )
  return deps.table.write(step)
}

/** The open transactions of one hour and channel category are read again together. */
export type OpenHour = Pick<Slice, 'id' | 'from' | 'to' | 'category'> & {
  readonly settlesBy: Timestamp
}

/**
 * Schedules a reading of a tail slice at `dueAt`, unless the slice already waits until `settlesBy`
 * or was read `maxReads` times. A worker that is reading the slice loses its claim. The next
 * reading starts from the beginning.
 */
export function registerReading(
  deps: TableDeps,
  hour: OpenHour,
  { dueAt, maxReads }: { readonly dueAt: Timestamp; readonly maxReads: number },
) {
  const set = { ...hour, kind: 'tail', provider: UPSTREAM, ...dueWork('sync', hour.id, dueAt) }
  const isLater = any(absent('settlesBy'), below('settlesBy', hour.settlesBy), absent('work'))
  const hasReads = any(absent('reads'), below('reads', maxReads))
  const step = update(
    syncJobKey(hour.id),
    { set, remove: ['afterId', 'openUntil', 'tries', 'ttl'] },
    all(isLater, hasReads),
  )
  return deps.table.write(step)
}

/** Each later try lost a race. */
const MAX_TRIES = 5

/**
 * Records a transaction in its latest form, so that the sync checks it alone at `dueAt`. A worker
 * that checks an older form loses its claim. An unreadable job is written anew. Throws when every
 * try meets another claim.
 */
export async function noteOpenTransaction(
  deps: TableDeps,
  transaction: ProviderTransaction,
  dueAt: Timestamp,
): Promise<void> {
  const id = openIdOf(transaction)
  const row = {
    id,
    kind: 'open',
    provider: UPSTREAM,
    tries: 0,
    transaction,
    ...dueWork('sync', id, dueAt),
  }
  const putJob = update(syncJobKey(id), { set: row, remove: ['ttl'] }, absent('work'))
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { applied, item } = await deps.table.write(putJob)
    if (applied) return
    const stored = ifValid(OpenTransactionSchema, item)?.transaction
    // Several passes read the same row. An equal or older row is not news.
    if (stored && transaction.updatedAt < stored.updatedAt) return
    if (stored && fieldsText(stored) === fieldsText(transaction)) return
    const set = {
      ...(stored ? { transaction } : row),
      dueAt: item?.['dueAt'] === dueAt ? addMs(dueAt, 1) : dueAt,
    }
    const changeJob = update(syncJobKey(id), { set }, isAsClaimed({ ...item }))
    if ((await deps.table.write(changeJob)).applied) return
  }
  throw new Error(`${id}: ${MAX_TRIES} tries met another claim`)
}

function openIdOf({ transactionId }: ProviderTransaction): string {
  return `open#${transactionId}`
}

/** A job of the row checks its newest form: a worker that checks an older form loses its claim. */
export async function renewJob(deps: StoreDeps, transaction: ProviderTransaction): Promise<void> {
  const job = await deps.table.get(syncJobKey(openIdOf(transaction)))
  if (isUnfinished(job)) await noteOpenTransaction(deps, transaction, nextTryAt(deps, 0))
}

const Ids = v.optional(v.set(v.string()), new Set<string>())
const RowsSchema = v.object({ rows: Ids, voids: Ids })

/** Notes a payout's row, or its void. True unless another row has paid the settlement too. */
export async function notePayoutRow(
  deps: TableDeps,
  { settlementId }: Settlement,
  { transactionId: id, status }: ProviderTransaction,
): Promise<boolean> {
  const noted = new Set([id])
  const add = status === 'success' ? { rows: noted } : { voids: noted }
  const { item } = await deps.table.write(update(syncJobKey(`payout#${settlementId}`), { add }))
  const { rows, voids } = v.parse(RowsSchema, item)
  return rows.difference(voids).isSubsetOf(noted)
}
