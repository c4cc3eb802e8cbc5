import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../deps.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import type { Item } from '../table/attributes.ts'
import { syncJobKey } from '../table/keys.ts'
import {
  absent,
  all,
  any,
  below,
  type Condition,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  exists,
  isNew,
  present,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import { UPSTREAM } from '../table/upstream.ts'
import { addMs, DAY_MS, epochMs, later, MINUTE_MS, SECOND_MS, type Timestamp, TimestampSchema } from '../time.ts'
import {
  type Head,
  HeadSchema,
  type OpenTransaction,
  OpenTransactionSchema,
  type Slice,
  type SyncJob,
  SyncJobSchema,
} from './sync-job.ts'

/** Longer than one page takes. Another worker takes over a slice after its lease has expired. */
export const LEASE_MS = 5 * MINUTE_MS
/** Done jobs are kept this long for investigation. */
const KEPT_MS = 7 * DAY_MS

const HEAD = 'head'

const ttlAt = (at: Timestamp): number => Math.ceil((epochMs(at) + KEPT_MS) / SECOND_MS)

/** No other worker has claimed the job: every claim and every kept page changes the due time. */
const isMine = ({ dueAt }: Pick<SyncJob, 'dueAt'>): Condition => all(present('work'), equals('dueAt', dueAt))

export const readHead = async (deps: TableDeps): Promise<Head | undefined> => {
  const item = await deps.table.get(syncJobKey(HEAD))
  return item && v.parse(HeadSchema, item)
}

/** Moves the head; refused when another planner has moved it. */
export const moveHead = (from: Head | undefined, to: Head): Step =>
  update(syncJobKey(HEAD), { set: { ...to, provider: UPSTREAM } }, unchanged('round', from?.round))

/** Records the row density, from which the next round's slices are cut. */
export const noteDensity = (deps: TableDeps, rowsPerMinute: number) =>
  deps.table.write(update(syncJobKey(HEAD), { set: { rowsPerMinute } }, exists))

export const newSlice = (slice: Slice): Step =>
  put(syncJobKey(slice.id), { ...slice, provider: UPSTREAM, ...dueWork('sync', slice.id, slice.dueAt) }, isNew)

const DueJobSchema = v.object({ id: v.string(), dueAt: TimestampSchema })
export type DueJob = v.InferOutput<typeof DueJobSchema>

/** Jobs that are due, oldest first. The index may be stale; the claim decides. */
export const findDueJobs = async (deps: StoreDeps, limit: number): Promise<readonly DueJob[]> => {
  const range = { atMost: deps.now() }
  const { items } = await deps.table.query({ index: 'by-due', partition: ['sync', 0], range, limit })
  return items.map((item) => v.parse(DueJobSchema, item))
}

const parseJob = (item: Item | undefined): SyncJob | undefined => item && v.parse(SyncJobSchema, item)

/** Claims a job for one lease; only one worker succeeds. Undefined: another worker has it, or it is done. */
export const claimJob = async (deps: StoreDeps, { id, dueAt }: DueJob): Promise<SyncJob | undefined> => {
  const leased = addMs(later(deps.now(), dueAt), LEASE_MS)
  const { applied, item } = await deps.table.write(
    update(syncJobKey(id), { set: { dueAt: leased } }, isMine({ dueAt })),
  )
  return applied ? parseJob(item) : undefined
}

/** The fields of a slice that a page changes. Without `afterId` the span is read from its beginning. */
export type Progress = Pick<Slice, 'afterId' | 'rows' | 'openUntil'>

/** Keeps the position after a page and renews the lease. Undefined: another worker has claimed the slice. */
export const keepPosition = async (deps: StoreDeps, slice: Slice, progress: Progress): Promise<Slice | undefined> => {
  // Always later than before, because the due time distinguishes one claim from the next.
  const dueAt = addMs(later(deps.now(), addMs(slice.dueAt, 1 - LEASE_MS)), LEASE_MS)
  const { applied } = await deps.table.write(
    update(
      syncJobKey(slice.id),
      { set: { ...progress, dueAt }, remove: progress.afterId === undefined ? ['afterId'] : [] },
      isMine(slice),
    ),
  )
  return applied ? { ...slice, ...progress, dueAt } : undefined
}

/** Releases a claimed job; a worker can claim it again from `dueAt` on. */
export const releaseJob = (deps: TableDeps, job: SyncJob, dueAt: Timestamp) =>
  deps.table.write(update(syncJobKey(job.id), { set: { dueAt } }, isMine(job)))

/** Removes a job from due work and lets it expire. */
export const finishJob = (deps: StoreDeps, job: SyncJob, reads?: number) =>
  deps.table.write(
    update(
      syncJobKey(job.id),
      { set: { ttl: ttlAt(deps.now()), reads }, remove: [...DUE_WORK_FIELDS, 'afterId'] },
      isMine(job),
    ),
  )

/** Schedules another reading of a tail slice, from its beginning. */
export const scheduleReading = (deps: TableDeps, slice: Slice, dueAt: Timestamp) =>
  deps.table.write(
    update(
      syncJobKey(slice.id),
      { set: { dueAt, reads: slice.reads + 1, rows: 0 }, remove: ['afterId', 'openUntil'] },
      isMine(slice),
    ),
  )

/**
 * Schedules a reading of a tail slice at `dueAt`, unless it already waits until `settlesBy` or has had `mostReads`.
 * A finished slice is read again, because its hour has a payment that was credited after the last reading.
 * A worker that is reading the slice loses its claim; the next reading starts from the beginning.
 */
export const registerReading = (
  deps: TableDeps,
  slice: Pick<Slice, 'id' | 'from' | 'to' | 'category'>,
  { settlesBy, dueAt, mostReads }: { settlesBy: Timestamp; dueAt: Timestamp; mostReads: number },
) =>
  deps.table.write(
    update(
      syncJobKey(slice.id),
      {
        set: { ...slice, kind: 'tail', settlesBy, rows: 0, ...dueWork('sync', slice.id, dueAt) },
        remove: ['afterId', 'openUntil', 'ttl'],
      },
      all(
        any(absent('settlesBy'), below('settlesBy', settlesBy), absent('work')),
        any(absent('reads'), below('reads', mostReads)),
      ),
    ),
  )

const openId = ({ transactionId }: ProviderTransaction) => `open#${transactionId}`

type Row = OpenTransaction['transaction']

/** Several passes read the same row. A row that is equal or older is not news. */
const isNewer = (known: Row, row: Row): boolean => {
  const fields = new Set([...Object.keys(known), ...Object.keys(row)])
  const differs = (field: string) => Reflect.get(known, field) !== Reflect.get(row, field)
  return row.updatedAt >= known.updatedAt && [...fields].some(differs)
}

/** Each further try has lost against another claim; more than this is an error. */
const MAX_TRIES = 5

/**
 * Records a transaction in its latest form, to be checked again alone at `dueAt`. A worker that checks an older form
 * loses its claim, so its result does not end the job. Throws when every try meets another claim.
 */
export const noteOpen = async (deps: TableDeps, transaction: ProviderTransaction, dueAt: Timestamp): Promise<void> => {
  const id = openId(transaction)
  const row = { id, kind: 'open', provider: UPSTREAM, tries: 0, transaction, ...dueWork('sync', id, dueAt) }
  const note = update(syncJobKey(id), { set: row, remove: ['ttl'] }, absent('work'))
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { applied, item } = await deps.table.write(note)
    if (applied) return
    const stored = v.parse(OpenTransactionSchema, item)
    if (!isNewer(stored.transaction, transaction)) return
    const renewed = { transaction, dueAt: stored.dueAt === dueAt ? addMs(dueAt, 1) : dueAt }
    if ((await deps.table.write(update(syncJobKey(id), { set: renewed }, isMine(stored)))).applied) return
  }
  throw new Error(`${id}: ${MAX_TRIES} tries met another claim`)
}

/** Schedules the next check of a transaction after one without a result. */
export const retryOpen = (deps: TableDeps, job: Extract<SyncJob, { kind: 'open' }>, dueAt: Timestamp) =>
  deps.table.write(update(syncJobKey(job.id), { set: { dueAt, tries: job.tries + 1 } }, isMine(job)))
