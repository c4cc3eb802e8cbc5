import * as v from 'valibot'
import type { Deps, StoreDeps } from '../deps.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import type { Item } from '../table/attributes.ts'
import {
  absent,
  all,
  any,
  below,
  type Condition,
  equals,
  exists,
  isNew,
  present,
  unchanged,
} from '../table/condition.ts'
import { DUE_WORK_FIELDS, dueWork } from '../table/due-work.ts'
import { syncJobKey } from '../table/keys.ts'
import { put, type Step, update } from '../table/step.ts'
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

/** Longer than one page takes; a dead worker's slice is taken over behind it. */
export const LEASE_MS = 5 * MINUTE_MS
/** Done jobs are kept for whoever looks into what happened. */
const KEPT_MS = 7 * DAY_MS

const HEAD = 'head'

const ttlAt = (at: Timestamp): number => Math.ceil((epochMs(at) + KEPT_MS) / SECOND_MS)

/** Nobody else has claimed it since: every claim and every page kept moves the due time. */
const isMine = ({ dueAt }: Pick<SyncJob, 'dueAt'>): Condition => all(present('work'), equals('dueAt', dueAt))

export const readHead = async (deps: Pick<Deps, 'table'>): Promise<Head | undefined> => {
  const item = await deps.table.get(syncJobKey(HEAD))
  return item && v.parse(HeadSchema, item)
}

/** Moves the head, refused when another planner did so. */
export const moveHead = (from: Head | undefined, to: Head): Step =>
  update(syncJobKey(HEAD), { set: { ...to, provider: UPSTREAM } }, unchanged('round', from?.round))

/** What slices of this length hold, for cutting the next ones. */
export const noteDensity = (deps: Pick<Deps, 'table'>, rowsPerMinute: number) =>
  deps.table.write(update(syncJobKey(HEAD), { set: { rowsPerMinute } }, exists))

export const newSlice = (slice: Slice): Step =>
  put(syncJobKey(slice.id), { ...slice, provider: UPSTREAM, ...dueWork('sync', slice.id, slice.dueAt) }, isNew)

const DueJobSchema = v.object({ id: v.string(), dueAt: TimestampSchema })
export type DueJob = v.InferOutput<typeof DueJobSchema>

/** Jobs that are due by now, longest due first. The index suggests, the claim decides. */
export const findDueJobs = async (deps: StoreDeps, limit: number): Promise<readonly DueJob[]> => {
  const range = { atMost: deps.now() }
  const { items } = await deps.table.query({ index: 'by-due', partition: ['sync', 0], range, limit })
  return items.map((item) => v.parse(DueJobSchema, item))
}

const parseJob = (item: Item | undefined): SyncJob | undefined => item && v.parse(SyncJobSchema, item)

/** Of several workers with the same due time one is applied. Undefined: somebody else has it, or it is done. */
export const claimJob = async (deps: StoreDeps, { id, dueAt }: DueJob): Promise<SyncJob | undefined> => {
  const leased = addMs(later(deps.now(), dueAt), LEASE_MS)
  const { applied, item } = await deps.table.write(
    update(syncJobKey(id), { set: { dueAt: leased } }, isMine({ dueAt })),
  )
  return applied ? parseJob(item) : undefined
}

/** What a page changes of its slice. An absent `afterId` begins the span again. */
export type Progress = Pick<Slice, 'afterId' | 'rows' | 'openUntil'>

/** Keeps the position behind a page and renews the lease. Undefined: the slice is somebody else's by now. */
export const keepPosition = async (deps: StoreDeps, slice: Slice, progress: Progress): Promise<Slice | undefined> => {
  // Later than before in any case: it is what tells one claim from the next.
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

/** Hands a claimed job back, to be claimed again from `dueAt` on. */
export const releaseJob = (deps: Pick<Deps, 'table'>, job: SyncJob, dueAt: Timestamp) =>
  deps.table.write(update(syncJobKey(job.id), { set: { dueAt } }, isMine(job)))

/** Done: nothing looks at it any more. */
export const finishJob = (deps: StoreDeps, job: SyncJob, reads?: number) =>
  deps.table.write(
    update(
      syncJobKey(job.id),
      { set: { ttl: ttlAt(deps.now()), reads }, remove: [...DUE_WORK_FIELDS, 'afterId'] },
      isMine(job),
    ),
  )

/** Another reading of a tail slice, from its beginning. */
export const scheduleReading = (deps: Pick<Deps, 'table'>, slice: Slice, dueAt: Timestamp) =>
  deps.table.write(
    update(
      syncJobKey(slice.id),
      { set: { dueAt, reads: slice.reads + 1, rows: 0 }, remove: ['afterId', 'openUntil'] },
      isMine(slice),
    ),
  )

/**
 * Has a tail slice read once more by `settlesBy`, unless it will be as late already, or has been read often enough. One
 * whose readings are over is read again: its hour has a payment that was credited behind them. Whoever is reading it
 * loses it: the next reading begins anew.
 */
export const registerReading = (
  deps: Pick<Deps, 'table'>,
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

type Noted = OpenTransaction['transaction']

/** Several passes read a row: one that is the same, or older, says nothing new. */
const saysMore = (known: Noted, heard: Noted): boolean => {
  const fields = new Set([...Object.keys(known), ...Object.keys(heard)])
  const differs = (field: string) => Reflect.get(known, field) !== Reflect.get(heard, field)
  return heard.updatedAt >= known.updatedAt && [...fields].some(differs)
}

/** Each further try has met another claim: nobody claims it so often at once. */
const MOST_TRIES = 5

/**
 * Notes a transaction to be looked at again by itself, as the provider said it last. Whoever is looking at an older
 * saying loses it, as by another claim: what it finds does not end the job.
 */
export const noteOpen = async (
  deps: Pick<Deps, 'table'>,
  transaction: ProviderTransaction,
  dueAt: Timestamp,
): Promise<void> => {
  const id = openId(transaction)
  const row = { id, kind: 'open', provider: UPSTREAM, tries: 0, transaction, ...dueWork('sync', id, dueAt) }
  const note = update(syncJobKey(id), { set: row, remove: ['ttl'] }, absent('work'))
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { applied, item } = await deps.table.write(note)
    if (applied) return
    const noted = v.parse(OpenTransactionSchema, item)
    if (!saysMore(noted.transaction, transaction)) return
    const renewed = { transaction, dueAt: noted.dueAt === dueAt ? addMs(dueAt, 1) : dueAt }
    if ((await deps.table.write(update(syncJobKey(id), { set: renewed }, isMine(noted)))).applied) return
  }
  throw new Error(`${id} is claimed all the time`)
}

/** Looked at in vain once more. */
export const retryOpen = (deps: Pick<Deps, 'table'>, job: Extract<SyncJob, { kind: 'open' }>, dueAt: Timestamp) =>
  deps.table.write(update(syncJobKey(job.id), { set: { dueAt, tries: job.tries + 1 } }, isMine(job)))
