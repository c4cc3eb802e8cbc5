import * as v from 'valibot'
import type { Deps, StoreDeps } from '../deps.ts'
import { slotOf } from '../ids.ts'
import { readableRows, readRows } from '../if-valid.ts'
import { workersForQuota } from '../provider/quota-store.ts'
import { WORK_SLOTS, type Work } from '../table/schema.ts'
import type { QueryInput } from '../table/table.ts'
import { TimestampSchema } from '../time.ts'

/** Payouts wait for operators, and the sync schedules itself. */
export type CheckedWork = Exclude<Work, 'payout' | 'sync'>

const MIN_PARTS: Readonly<Record<CheckedWork, number>> = { alert: 2, delivery: 1, payment: 2 }

/** A busy slot has parts, one for each worker that the provider's quota can feed. */
export function maxParts(work: CheckedWork, callsPerMinute: number): number {
  return work === 'payment'
    ? Math.max(
        MIN_PARTS.payment,
        Math.ceil(workersForQuota('due', callsPerMinute) / WORK_SLOTS.payment),
      )
    : MIN_PARTS[work]
}

export function maxWorkers(work: CheckedWork, callsPerMinute: number): number {
  return WORK_SLOTS[work] * maxParts(work, callsPerMinute)
}

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** All items of a slot, or one of several parts of the slot. */
export const DueSlotSchema = v.object({
  slot: Count,
  part: Count,
  parts: v.pipe(Count, v.minValue(1)),
})
export type DueSlot = v.InferOutput<typeof DueSlotSchema>

/** The hash of slots would put a whole slot into one part. */
export function isInPart({ part, parts }: DueSlot, id: string): boolean {
  return slotOf(`part of ${id}`, parts) === part
}

const DueItemSchema = v.object({
  pk: v.string(),
  sk: v.string(),
  id: v.string(),
  dueAt: TimestampSchema,
})

/** The item may be due. The item itself decides. */
export type DueItem = v.InferOutput<typeof DueItemSchema>

export async function findDuePage(
  deps: StoreDeps & Pick<Deps, 'log'>,
  {
    work,
    slot,
    limit,
    cursor,
  }: Pick<QueryInput, 'limit' | 'cursor'> & { readonly work: Work; readonly slot: number },
) {
  const range = { atMost: deps.now() }
  const page = await deps.table.query({
    index: 'by-due',
    partition: [work, slot],
    range,
    limit,
    cursor,
  })
  const items = readableRows(
    deps,
    work,
    readRows(DueItemSchema, page.items, ({ pk }) => pk),
  )
  return { items, cursor: page.cursor }
}
