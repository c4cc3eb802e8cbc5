import * as v from 'valibot'
import type { StoreDeps } from '../deps.ts'
import { slotOf } from '../ids.ts'
import { workersForQuota } from '../provider/quota-store.ts'
import type { Item } from '../table/attributes.ts'
import { WORK_SLOTS, type Work } from '../table/schema.ts'
import { TimestampSchema } from '../time.ts'

/** Payouts wait for operators, audits have their own messages, and the sync schedules itself. */
export type CheckedWork = Exclude<Work, 'audit' | 'payout' | 'sync'>

const LEAST_PARTS: Readonly<Record<CheckedWork, number>> = { alert: 2, delivery: 1, payment: 2 }

/** A busy slot has parts, one for each worker. Payments have as many as the provider's quota can feed. */
export const mostParts = (work: CheckedWork, callsPerMinute: number): number =>
  work === 'payment'
    ? Math.max(LEAST_PARTS.payment, Math.ceil(workersForQuota('due', callsPerMinute) / WORK_SLOTS.payment))
    : LEAST_PARTS[work]

export const mostWorkers = (work: CheckedWork, callsPerMinute: number): number =>
  WORK_SLOTS[work] * mostParts(work, callsPerMinute)

const CountSchema = v.pipe(v.number(), v.integer(), v.minValue(0))

/** Which items a worker handles: those of a slot, or one of several parts of it. */
export const DueSlotSchema = v.object({
  slot: CountSchema,
  part: CountSchema,
  parts: v.pipe(CountSchema, v.minValue(1)),
})
export type DueSlot = v.InferOutput<typeof DueSlotSchema>

/** Parts use another hash than slots; the same hash would put a whole slot into one part. */
export const isInPart = ({ part, parts }: DueSlot, id: string): boolean => slotOf(`part of ${id}`, parts) === part

const DueItemSchema = v.object({ pk: v.string(), sk: v.string(), id: v.string(), dueAt: TimestampSchema })

/** A row of the by-due index: the item may be due. The item itself decides. */
export type DueItem = v.InferOutput<typeof DueItemSchema>

export type DuePage = { readonly items: readonly DueItem[]; readonly cursor: Item | undefined }

export const findDuePage = async (
  deps: StoreDeps,
  input: { readonly work: Work; readonly slot: number; readonly limit: number; readonly cursor: Item | undefined },
): Promise<DuePage> => {
  const { items, cursor } = await deps.table.query({
    index: 'by-due',
    partition: [input.work, input.slot],
    range: { atMost: deps.now() },
    limit: input.limit,
    cursor: input.cursor,
  })
  return { items: items.map((item) => v.parse(DueItemSchema, item)), cursor }
}
