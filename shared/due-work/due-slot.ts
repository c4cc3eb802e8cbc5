import * as v from 'valibot'
import { slotOf } from '../ids.ts'
import { workersForQuota } from '../provider/workers-for-quota.ts'
import { WORK_SLOTS, type Work } from '../table/schema.ts'

/** Payouts wait for people, audits have messages of their own, and the sync looks after its own. */
export type CheckedWork = Exclude<Work, 'audit' | 'payout' | 'sync'>

const LEAST_PARTS: Readonly<Record<CheckedWork, number>> = { alert: 2, delivery: 1, payment: 2 }

/**
 * A slot with much to do is divided into parts, each for one worker: more parts here are more workers there, and nothing
 * else limits how fast a kind is worked off but what it asks of others. Payments ask the provider, and have as many as
 * its quota feeds.
 */
export const mostParts = (work: CheckedWork, callsPerMinute: number): number =>
  work === 'payment'
    ? Math.max(LEAST_PARTS.payment, Math.ceil(workersForQuota('due', callsPerMinute) / WORK_SLOTS.payment))
    : LEAST_PARTS[work]

/** As many as one look at everything can call for: no message of theirs waits for a worker. */
export const mostWorkers = (work: CheckedWork, callsPerMinute: number): number =>
  WORK_SLOTS[work] * mostParts(work, callsPerMinute)

const CountSchema = v.pipe(v.number(), v.integer(), v.minValue(0))

/** Which items a worker looks at: those of a slot, or one of several parts of them. */
export const DueSlotSchema = v.object({
  slot: CountSchema,
  part: CountSchema,
  parts: v.pipe(CountSchema, v.minValue(1)),
})
export type DueSlot = v.InferOutput<typeof DueSlotSchema>

/** Parts are spread by another hash than slots, which would put all of a slot into one of them. */
export const isInPart = ({ part, parts }: DueSlot, id: string): boolean => slotOf(`part of ${id}`, parts) === part
