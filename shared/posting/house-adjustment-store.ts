import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { MinorSchema } from '../money.ts'
import { houseAdjustmentKey } from '../table/keys.ts'
import { isNew, put, type Step } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'

/** What an adjustment of the house may move. */
export const ADJUSTED_LEGS = ['bankMinor', 'transitMinor', 'costMinor', 'otherMinor'] as const

/** Makes a reference unique, whatever the day of its entry. */
export const HouseAdjustmentSchema = v.object({
  reference: v.string(),
  ...v.entriesFromList(ADJUSTED_LEGS, MinorSchema),
  notes: v.optional(v.string()),
  postedAt: TimestampSchema,
})
export type HouseAdjustment = v.InferOutput<typeof HouseAdjustmentSchema>

export async function findHouseAdjustment(
  deps: TableDeps,
  reference: string,
): Promise<HouseAdjustment | undefined> {
  return v.parse(
    v.optional(HouseAdjustmentSchema),
    await deps.table.get(houseAdjustmentKey(reference)),
  )
}

/** Refused if the reference is used. */
export function putHouseAdjustment(adjustment: HouseAdjustment): Step {
  return put(houseAdjustmentKey(adjustment.reference), adjustment, isNew)
}
