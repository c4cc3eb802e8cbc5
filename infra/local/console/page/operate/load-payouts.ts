import type * as v from 'valibot'
import { DAY_MS } from '../../../../../shared/time.ts'
import { invoke, type Loaded, load, loadClock } from '../gateway.ts'
import { jakartaDay } from '../jakarta.ts'
import { readAllPages } from '../read-pages.ts'
import { hasNext, PER_PAGE } from '../shapes.ts'
import { BatchRecordsSchema, isReadable, type Payout, PayoutsSchema } from './operate-shapes.ts'

/** A batch of payouts whose file may be at the bank. */
export type LiveBatch = {
  readonly number: number
  /** The number of its payouts, and their sum; undefined if the batch is not finished. */
  readonly count: number | undefined
  readonly totalMinor: number | undefined
  /** Its settlements that the bank has not answered. */
  readonly open: readonly Payout[]
}

export type Payouts = {
  readonly toPay: readonly Payout[]
  readonly batches: readonly LiveBatch[]
  readonly failed: readonly Payout[]
  readonly isWhole: boolean
}

const MOST_PAGES = 10
/** An older failed payout is in the files of its month. */
const DAYS_BACK = 60

export async function loadPayouts(): Promise<Loaded<Payouts>> {
  const recorded = await readAllPages({
    schema: PayoutsSchema,
    most: MOST_PAGES,
    callOf: (page) => invoke('list-settlements', { status: 'recorded', page, per_page: PER_PAGE }),
    hasNext,
  })
  if (!('value' in recorded)) return recorded
  const failed = await loadFailed()
  if (!('value' in failed)) return failed
  const payouts = recorded.value.pages.flatMap(({ data }) => data)
  const byBatch = Map.groupBy(payouts, ({ batch }) => batch)
  const toPay = [...(byBatch.get(null) ?? [])]
  const batches: LiveBatch[] = []
  for (const [number, open] of byBatch) {
    if (number === null) continue
    const record = await load(BatchRecordsSchema, recordsOf(number))
    if (!('value' in record)) return record
    const batch = batchOf(number, open, record.value)
    // A settlement keeps the number of a cancelled batch until the next batch.
    if (batch) batches.push(batch)
    else toPay.push(...open)
  }
  const isWhole = recorded.value.isWhole && recorded.value.pages.every(isReadable)
  return { value: { toPay, batches, failed: failed.value, isWhole } }
}

export function recordsOf(batch: number) {
  return invoke('list-audit', { subject: `batch:${batch}`, per_page: 1 })
}

/** Undefined for a cancelled batch. Without a record the batch is not finished. */
function batchOf(
  number: number,
  open: readonly Payout[],
  { data }: v.InferOutput<typeof BatchRecordsSchema>,
): LiveBatch | undefined {
  const { state, count, total_minor: totalMinor } = data[0]?.after ?? {}
  return state === 'cancelled' ? undefined : { number, count, totalMinor, open }
}

async function loadFailed(): Promise<Loaded<readonly Payout[]>> {
  const clock = await loadClock()
  if (!('value' in clock)) return clock
  const from = jakartaDay(new Date(Date.parse(clock.value.now) - DAYS_BACK * DAY_MS).toISOString())
  const failed = await readAllPages({
    schema: PayoutsSchema,
    most: MOST_PAGES,
    callOf: (_page, last) =>
      invoke('list-settlements', {
        status: 'failed',
        from,
        per_page: PER_PAGE,
        cursor: last?.cursor,
      }),
    hasNext: ({ cursor }) => cursor !== undefined,
  })
  if (!('value' in failed)) return failed
  const payouts = failed.value.pages.flatMap(({ data }) => data)
  return { value: payouts.filter(({ recredited_at: again }) => again === null) }
}
