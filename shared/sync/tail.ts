import type { StoreDeps } from '../deps.ts'
import { expectedSettlement } from '../payment/channel/expected-settlement.ts'
import type { Payment } from '../payment/payment.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { addMs, DAY_MS, earlier, epochMs, HOUR_MS, later, MINUTE_MS, type Timestamp, timestampOf } from '../time.ts'
import { finishJob, registerReading, scheduleReading } from './job-store.ts'
import type { Slice } from './sync-job.ts'

/** With two readings by the head for each of two updates, and one question before a fee is assumed: eight at most. */
const MOST_READS = 3
/** Behind the hour in which the provider means to settle. */
const MARGIN_MS = 10 * MINUTE_MS
/** Where the provider is late. */
const AGAIN_MS = DAY_MS
/** A time further away than this is a mistake of somebody's, and the settlement asks by then anyway. */
const LONGEST_WAIT_MS = 6 * DAY_MS

/** Transactions of one hour and channel category: those that are not final yet are read again together. */
export type OpenHours = Map<string, Pick<Slice, 'id' | 'from' | 'to' | 'category'> & { readonly settlesBy: Timestamp }>

const hourOf = (at: Timestamp): Timestamp => timestampOf(Math.floor(epochMs(at) / HOUR_MS) * HOUR_MS)

/** Whole hours, so that a slice whose transactions settle one after the other is not rescheduled by each of them. */
const settlesBy = (transaction: ProviderTransaction, payment: Payment, now: Timestamp): Timestamp => {
  const created = transaction.createdAt ?? transaction.updatedAt
  const expected = transaction.settlesAt ?? expectedSettlement(payment, created)
  const bounded = later(created, earlier(expected, addMs(later(now, created), LONGEST_WAIT_MS)))
  return addMs(hourOf(bounded), HOUR_MS)
}

/** Whether the provider has still to settle the money that a payment was credited with. */
const isOpen = ({ keptMinor, settledAt }: ProviderTransaction): boolean =>
  keptMinor === undefined || settledAt === undefined

/**
 * Adds a credited payment's transaction to what is read again, when it is not final. A slice waits for the latest of its
 * transactions: one reading then finds all of them, and the head finds earlier whatever the provider marks as updated.
 */
export const addOpen = (hours: OpenHours, transaction: ProviderTransaction, payment: Payment, now: Timestamp): void => {
  if (!isOpen(transaction)) return
  const from = hourOf(transaction.createdAt ?? transaction.updatedAt)
  const { category } = transaction
  const id = `tail#${from}#${category ?? ''}`
  const by = settlesBy(transaction, payment, now)
  const known = hours.get(id)
  if (known !== undefined && known.settlesBy >= by) return
  hours.set(id, { id, from, to: addMs(from, HOUR_MS - 1), category, settlesBy: by })
}

const readAt = (settled: Timestamp, now: Timestamp): Timestamp => later(addMs(settled, MARGIN_MS), now)

/** Has the hours read again when they can be final. `noted`: what this run has written already. */
export const registerOpen = async (deps: StoreDeps, hours: OpenHours, noted: Map<string, Timestamp>): Promise<void> => {
  for (const { settlesBy: by, ...slice } of hours.values()) {
    if ((noted.get(slice.id) ?? '') >= by) continue
    const dueAt = readAt(by, deps.now())
    await registerReading(deps, slice, { settlesBy: by, dueAt, mostReads: MOST_READS })
    noted.set(slice.id, by)
  }
}

/** The latest settlement to wait for among what a page showed open. */
export const latestOf = (hours: OpenHours, before: Timestamp | undefined): Timestamp | undefined => {
  let latest = before
  for (const { settlesBy: by } of hours.values()) latest = later(latest ?? by, by)
  return latest
}

/** A slice has been read to its end: once more while something in it is open, else done. */
export const endReading = async (deps: StoreDeps, slice: Slice): Promise<void> => {
  const reads = slice.reads + 1
  const now = deps.now()
  if (slice.openUntil === undefined || reads >= MOST_READS) {
    await finishJob(deps, slice, reads)
    return
  }
  await scheduleReading(deps, slice, slice.openUntil > now ? readAt(slice.openUntil, now) : addMs(now, AGAIN_MS))
}
