import type { StoreDeps } from '../deps.ts'
import { expectedSettlement } from '../payment/channel/channel-timing.ts'
import type { ChannelChoice } from '../payment/channel/channels.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import {
  addMs,
  DAY_MS,
  earlier,
  epochMs,
  HOUR_MS,
  later,
  MINUTE_MS,
  type Timestamp,
  timestampOf,
} from '../time.ts'
import type { OpenHour, Slice } from './job-store.ts'
import { finishJob, registerReading, scheduleReading } from './job-store.ts'

/** A row is read eight times at most: three tail readings, four head readings, one call before a fee is assumed. */
const MAX_READS = 3
/** The wait after the hour in which the provider expects to settle. */
const MARGIN_MS = 10 * MINUTE_MS
/** The wait before the next reading when the provider settles late. */
const AGAIN_MS = DAY_MS
/** A later expected settlement is an error. A day after this wait, the sweep asks about the payment itself. */
const LONGEST_WAIT_MS = 6 * DAY_MS

export type OpenHours = Map<string, OpenHour>

/** The channel of money in suspense is unknown. Most channels settle after two business days, as this one does. */
const USUAL: ChannelChoice = { method: 'qris' }

/** Adds a booked, unsettled transaction to its hour. The hour is read when its latest one has settled. */
export function addOpen(
  hours: OpenHours,
  transaction: ProviderTransaction,
  now: Timestamp,
  channel: ChannelChoice = USUAL,
): void {
  const { keptMinor, settledAt, category, createdAt = transaction.updatedAt } = transaction
  if (keptMinor !== undefined && settledAt !== undefined) return
  const from = hourOf(createdAt)
  const id = `tail#${from}#${category ?? ''}`
  const by = settlesBy(transaction, channel, now)
  const known = hours.get(id)?.settlesBy ?? by
  hours.set(id, { id, from, to: addMs(from, HOUR_MS - 1), category, settlesBy: later(known, by) })
}

function hourOf(at: Timestamp): Timestamp {
  return timestampOf(Math.floor(epochMs(at) / HOUR_MS) * HOUR_MS)
}

/** Rounded up to whole hours, so that each transaction of a slice does not reschedule it. */
function settlesBy(
  transaction: ProviderTransaction,
  channel: ChannelChoice,
  now: Timestamp,
): Timestamp {
  const created = transaction.createdAt ?? transaction.updatedAt
  const expected = transaction.settlesAt ?? expectedSettlement(channel, created)
  const bounded = later(created, earlier(expected, addMs(later(now, created), LONGEST_WAIT_MS)))
  return addMs(hourOf(bounded), HOUR_MS)
}

/** Schedules a reading of each hour after its expected settlement. `scheduled`: those already scheduled by this run. */
export async function registerOpen(
  deps: StoreDeps,
  hours: OpenHours,
  scheduled: Map<string, Timestamp>,
) {
  for (const hour of hours.values()) {
    if ((scheduled.get(hour.id) ?? '') >= hour.settlesBy) continue
    await registerReading(deps, hour, {
      dueAt: readAt(hour.settlesBy, deps.now()),
      maxReads: MAX_READS,
    })
    scheduled.set(hour.id, hour.settlesBy)
  }
}

function readAt(settled: Timestamp, now: Timestamp): Timestamp {
  return later(addMs(settled, MARGIN_MS), now)
}

/** Ends a complete reading: schedules another while a transaction is open and readings are left, else finishes. */
export async function endReading(deps: StoreDeps, slice: Slice): Promise<void> {
  const reads = slice.reads + 1
  const now = deps.now()
  if (slice.openUntil === undefined || reads >= MAX_READS) {
    await finishJob(deps, slice, reads)
    return
  }
  await scheduleReading(
    deps,
    slice,
    slice.openUntil > now ? readAt(slice.openUntil, now) : addMs(now, AGAIN_MS),
  )
}
