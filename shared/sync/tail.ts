import { expectedSettlement } from '../channel/channel-timing.ts'
import type { ChannelChoice } from '../channel/channels.ts'
import type { StoreDeps } from '../deps.ts'
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
import {
  finishJob,
  type OpenHour,
  registerReading,
  type Slice,
  scheduleReading,
} from './job-store.ts'

/**
 * A row is read eight times at most: three tail readings, four head readings, one call before a fee
 * is assumed. A row that has not settled by then is read once more, weeks later.
 */
const MAX_READS = 4
/** The wait after the hour in which the provider expects to settle. */
const MARGIN_MS = 10 * MINUTE_MS
/** The wait before the next reading if the provider settles late. */
const NEXT_READING_MS = DAY_MS
/**
 * The wait before the last reading: of a payment whose fee is assumed by then, and of money in
 * suspense, the row is still to be booked.
 */
const LAST_READING_MS = 28 * DAY_MS
/**
 * A later expected settlement is an error. A day after this wait, the sweep asks about the payment
 * itself.
 */
const LONGEST_WAIT_MS = 6 * DAY_MS

export type OpenHours = Map<string, OpenHour>

/**
 * Used for money in suspense, whose channel is unknown. Most channels settle after two business
 * days, as QRIS does.
 */
const USUAL_CHANNEL: ChannelChoice = { method: 'qris' }

/** The hour is read when its last transaction has settled. */
export function addOpenTransaction(
  hours: OpenHours,
  transaction: ProviderTransaction,
  now: Timestamp,
  channel: ChannelChoice = USUAL_CHANNEL,
) {
  const { keptMinor, settledAt } = transaction
  if (keptMinor !== undefined && settledAt !== undefined) return
  const hour = sliceOf(transaction)
  const settlesAt = settlementHourOf(transaction, channel, now)
  const settlesBy = later(hours.get(hour.id)?.settlesBy ?? settlesAt, settlesAt)
  hours.set(hour.id, { ...hour, settlesBy })
}

function sliceOf({ createdAt, category }: ProviderTransaction) {
  const from = hourOf(createdAt)
  return { id: `tail#${from}#${category ?? ''}`, from, to: addMs(from, HOUR_MS - 1), category }
}

function hourOf(at: Timestamp) {
  return timestampOf(Math.floor(epochMs(at) / HOUR_MS) * HOUR_MS)
}

/** Rounded up to a whole hour, so that not every transaction reschedules its slice. */
function settlementHourOf(
  transaction: ProviderTransaction,
  channel: ChannelChoice,
  now: Timestamp,
) {
  const { createdAt: created, settlesAt } = transaction
  const expected = settlesAt ?? expectedSettlement(channel, created)
  const latest = addMs(later(now, created), LONGEST_WAIT_MS)
  return addMs(hourOf(later(created, earlier(expected, latest))), HOUR_MS)
}

/** Each hour is read after its expected settlement. `scheduled`: by this run. */
export async function registerOpenHours(
  deps: StoreDeps,
  hours: OpenHours,
  scheduled: Map<string, Timestamp>,
) {
  for (const hour of hours.values()) {
    if ((scheduled.get(hour.id) ?? '') >= hour.settlesBy) continue
    await registerReading(deps, hour, {
      dueAt: readingTimeOf(hour.settlesBy, deps.now()),
      maxReads: MAX_READS,
    })
    scheduled.set(hour.id, hour.settlesBy)
  }
}

/** Has the hour of a row read once more now. It keeps its readings for the rows that are open. */
export async function readHourAgain(
  deps: StoreDeps,
  transaction: ProviderTransaction,
): Promise<void> {
  const now = deps.now()
  const slice = sliceOf(transaction)
  const hour = { ...slice, id: `again#${slice.id}`, reads: MAX_READS, settlesBy: now }
  await registerReading(deps, hour, { dueAt: now, maxReads: Number.MAX_SAFE_INTEGER })
}

function readingTimeOf(settlesBy: Timestamp, now: Timestamp) {
  return later(addMs(settlesBy, MARGIN_MS), now)
}

/** Schedules the next reading while a transaction is open and readings are left. */
export async function endReading(deps: StoreDeps, slice: Slice) {
  const reads = slice.reads + 1
  const now = deps.now()
  if (slice.openUntil === undefined || reads >= MAX_READS) {
    await finishJob(deps, slice, reads)
    return
  }
  const waitMs = reads === MAX_READS - 1 ? LAST_READING_MS : NEXT_READING_MS
  await scheduleReading(
    deps,
    slice,
    slice.openUntil > now ? readingTimeOf(slice.openUntil, now) : addMs(now, waitMs),
  )
}
