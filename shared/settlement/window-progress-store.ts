import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { unchanged } from '../table/condition.ts'
import { windowProgressKey } from '../table/keys.ts'
import { put } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { addFunding, type Funding, noFunding } from './funding.ts'
import { type PaidPayment, sumsOf } from './paid-payments.ts'
import { addSums, NO_SUMS, type Sums, SumsSchema } from './sums.ts'

/**
 * What was read of a window so far, whole milliseconds only. It cannot change any more: fees up to there are final and
 * rows of the index are never removed. So a window of any size is summed over several runs.
 */
export type WindowProgress = {
  /** Every payment paid before it is in the sums. */
  readonly until: Timestamp
  readonly sums: Sums
  /** Reaches as far or less: it ends where too many payments wait. */
  readonly funding: Funding
  /** Of the item it was read from or written to; undefined while there is none. */
  readonly version: number | undefined
}

const ProgressSchema = v.object({
  until: TimestampSchema,
  ...SumsSchema.entries,
  fundedUntil: TimestampSchema,
  fundedMinor: MinorSchema,
  waitingIds: v.optional(v.set(PaymentIdSchema), new Set<PaymentId>()),
  version: v.number(),
})

export const noProgress = (start: Timestamp): WindowProgress => ({
  until: start,
  sums: NO_SUMS,
  funding: noFunding(start),
  version: undefined,
})

/** How far the window that begins then has been read. */
export const readProgress = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  start: Timestamp,
): Promise<WindowProgress> => {
  const item = await deps.table.get(windowProgressKey(clientId, start))
  if (item === undefined) return noProgress(start)
  const { until, fundedUntil, fundedMinor, waitingIds, version, ...sums } = v.parse(ProgressSchema, item)
  return { until, sums, funding: { until: fundedUntil, fundedMinor, waiting: [...waitingIds] }, version }
}

/**
 * Keeps how far a window has been read; undefined when somebody else has kept something since `progress` was read, who
 * is then to be followed: sums are never added to others than those they were counted behind.
 */
export const keepProgress = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  start: Timestamp,
  { until, sums, funding, version }: WindowProgress,
): Promise<WindowProgress | undefined> => {
  const next = (version ?? 0) + 1
  const item = {
    until,
    ...sums,
    fundedUntil: funding.until,
    fundedMinor: funding.fundedMinor,
    // DynamoDB has no empty sets.
    ...(funding.waiting.length > 0 && { waitingIds: new Set(funding.waiting) }),
    version: next,
  }
  const { applied } = await deps.table.write(
    put(windowProgressKey(clientId, start), item, unchanged('version', version)),
  )
  return applied ? { until, sums, funding, version: next } : undefined
}

/** With all payments of one more millisecond, up to `until`. */
export const foldMillisecond = (
  progress: WindowProgress,
  payments: readonly PaidPayment[],
  until: Timestamp,
): WindowProgress => ({
  ...progress,
  until,
  sums: payments.reduce((sums, payment) => addSums(sums, sumsOf(payment)), progress.sums),
  funding: addFunding(progress.funding, { from: progress.until, payments, until }) ?? progress.funding,
})
