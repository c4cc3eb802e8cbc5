import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../deps.ts'
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
  present,
  update,
} from '../table/step.ts'
import { addMs, DAY_MS, epochMs, later, MINUTE_MS, SECOND_MS, type Timestamp, TimestampSchema } from '../time.ts'
import { type Slice, type SyncJob, SyncJobSchema } from './sync-job.ts'

/** Longer than one page takes. Another worker takes over a slice after its lease has expired. */
export const LEASE_MS = 5 * MINUTE_MS
/** Done jobs are kept this long for investigation. */
const KEPT_MS = 7 * DAY_MS

const ttlAt = (at: Timestamp): number => Math.ceil((epochMs(at) + KEPT_MS) / SECOND_MS)

/** No other worker has claimed the job: every claim and every kept page changes the due time. */
export const isMine = ({ dueAt }: Pick<SyncJob, 'dueAt'>): Condition => all(present('work'), equals('dueAt', dueAt))

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
