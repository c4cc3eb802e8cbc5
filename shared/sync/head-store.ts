import * as v from 'valibot'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import { callsPerMinute, workersForQuota } from '../provider/quota-store.ts'
import { syncJobKey } from '../table/keys.ts'
import { dueWork, put, unchanged, update } from '../table/step.ts'
import { UPSTREAM } from '../table/upstream.ts'
import {
  addMs,
  DAY_MS,
  earlier,
  epochMs,
  HOUR_MS,
  later,
  MINUTE_MS,
  msBetween,
  type Timestamp,
  timestampOf,
} from '../time.ts'
import { type Head, HeadSchema, isUnfinished, LEASE_MS, type Slice } from './job-store.ts'

/** The next round reads this span again, because rows may appear late and clocks differ. */
const OVERLAP_MS = 2 * MINUTE_MS
const FIRST_LOOK_BACK_MS = 7 * DAY_MS
const SLICE_MS = 6 * HOUR_MS
/** A longer round is stored before it is read: a page without an answer does not hold the head. */
const LONGEST_IN_PLACE_MS = 30 * MINUTE_MS
/**
 * The most slices of one reading. A transaction holds a hundred steps, and all workers share a
 * longer backlog anyway.
 */
const MAX_SLICES = 28
/**
 * Longer than a dispute can be raised (QRIS: 90 days). Once a day the sync reads the reversals of
 * this span, and a second net: rows of other types of this span, and every row of whole days,
 * because no document says when a row becomes visible.
 */
const REVERSALS_SPAN_MS = 180 * DAY_MS
/**
 * The second net reads each day of creation a day later, and each week once more: the provider's
 * reconciliation finds money "after one or several days", with its old times.
 */
const DAY_READINGS = [
  { everyDays: 1, afterDays: 1 },
  { everyDays: 7, afterDays: 8 },
] as const

/** False just after a round: a round at once would read most rows for the third time. */
export async function isRoundDue(deps: StoreDeps): Promise<boolean> {
  const head = await readHead(deps)
  return head === undefined || head.position <= addMs(deps.now(), -2 * OVERLAP_MS)
}

const headKey = syncJobKey('head')

async function readHead(deps: TableDeps): Promise<Head | undefined> {
  return v.parse(v.optional(HeadSchema), await deps.table.get(headKey))
}

export type Round = Awaited<ReturnType<typeof nextRound>>

/** A round has all rows updated after the head's position, up to now. Writes nothing. */
export async function nextRound(deps: StoreDeps & Pick<Deps, 'stage'>) {
  const head = await readHead(deps)
  const now = deps.now()
  // A position after this time was kept by a worker whose clock was ahead. Rounds are minutes
  // apart, so the last hour has what they have not read.
  const isAhead = head !== undefined && head.position > now
  const from = isAhead ? addMs(now, -HOUR_MS) : (head?.position ?? addMs(now, -FIRST_LOOK_BACK_MS))
  const round = (head?.round ?? 0) + 1
  const newSlice = { dueAt: now, reads: 0 }
  const workers = workersForQuota('listing', callsPerMinute(deps.stage, now))
  const count = Math.max(workers, Math.ceil(msBetween(from, now) / SLICE_MS))
  const slices: Slice[] = cutIntoSlices({ from, to: now }, count).map((span, at) => ({
    ...newSlice,
    ...span,
    // The worker that begins the round has claimed its first slice. Each worker can claim the
    // other slices.
    dueAt: at === 0 ? addMs(now, LEASE_MS) : now,
    id: `head#${round}#${at}`,
    kind: 'head',
  }))
  const areReversalsDue = head === undefined || isAhead || head.reversalsAt <= now
  if (areReversalsDue) slices.push(...(await dailySlices(deps, head, { round, now, workers })))
  const nextHead: Head = {
    position: later(from, addMs(now, -OVERLAP_MS)),
    round,
    reversalsAt: areReversalsDue ? addMs(now, DAY_MS) : head.reversalsAt,
  }
  const isShort = slices.length === 1 && msBetween(from, now) <= LONGEST_IN_PLACE_MS
  return { slices, isShort, to: now, nextHead, lastRound: head?.round }
}

type DailyRound = { readonly round: number; readonly now: Timestamp; readonly workers: number }

const DAILY_PASSES = ['reversals', 'others'] as const

/**
 * The reversals and the second net, since the last daily round. A pass that is still read or
 * refused is not begun again: the next daily round begins it.
 */
async function dailySlices(
  deps: TableDeps,
  head: Head | undefined,
  { round, now, workers }: DailyRound,
): Promise<readonly Slice[]> {
  const stored = await Promise.all(DAILY_PASSES.map((kind) => deps.table.get(syncJobKey(kind))))
  const passes = DAILY_PASSES.filter((_, at) => !isUnfinished(stored[at]))
  const newSlice = { dueAt: now, reads: 0 }
  const created = { from: addMs(now, -REVERSALS_SPAN_MS), to: now }
  const id = `${epochMs(now)}#${round}`
  // The last daily round was a day before this one became due. The first round reads a week.
  const lastDaily = head === undefined ? now : addMs(earlier(head.reversalsAt, now), -DAY_MS)
  const dayReadings = DAY_READINGS.flatMap(({ everyDays, afterDays }) => {
    const period = { from: startOfDays(lastDaily, everyDays), to: startOfDays(now, everyDays) }
    return cutIntoSlices(period, workers).map((span, at) => ({
      ...newSlice,
      id: `day#${id}#${afterDays}#${at}`,
      kind: 'day' as const,
      from: addMs(span.from, -afterDays * DAY_MS),
      to: addMs(span.to, -afterDays * DAY_MS),
    }))
  })
  return [
    ...passes.map((kind) => ({ ...newSlice, id: kind, kind, ...created })),
    ...dayReadings.filter(({ from, to }) => from < to),
  ]
}

/**
 * Moves the head over a round and stores what is left to read of it, in one transaction: a crash
 * loses no slice (design section 4, "Sync"). False: another worker has begun or read this round.
 */
export async function moveHead(
  deps: TableDeps,
  { nextHead, lastRound }: Round,
  unread: readonly Slice[],
): Promise<boolean> {
  const head = update(headKey, { set: headRow(nextHead) }, unchanged('round', lastRound))
  if (unread.length === 0) return (await deps.table.write(head)).applied
  // A slice's id names the round, which only the condition of the head allows.
  const putSlices = unread.map((slice) => {
    return [slice.id, put(syncJobKey(slice.id), sliceRow(slice))] as const
  })
  return (await deps.table.transact<string>({ head, ...Object.fromEntries(putSlices) })).applied
}

/** The start of a day, or of a period of so many days since 1970. */
function startOfDays(at: Timestamp, days: number): Timestamp {
  const periodMs = days * DAY_MS
  return timestampOf(Math.floor(epochMs(at) / periodMs) * periodMs)
}

export function headRow(head: Head) {
  return { ...head, provider: UPSTREAM }
}

function sliceRow(slice: Slice) {
  return { ...slice, provider: UPSTREAM, ...dueWork('sync', slice.id, slice.dueAt) }
}

/**
 * Slices of equal length, at least one for each worker that the quota needs, which reads rows three
 * times as fast as they come. A long backlog of the head has more.
 */
function cutIntoSlices({ from, to }: Pick<Slice, 'from' | 'to'>, wanted: number) {
  const spanMs = Math.max(1, msBetween(from, to))
  const count = Math.min(MAX_SLICES, Math.max(1, wanted))
  const edge = (at: number) => (at === count ? to : addMs(from, Math.floor((spanMs * at) / count)))
  return Array.from({ length: count }, (_, at) => ({ from: edge(at), to: edge(at + 1) }))
}
