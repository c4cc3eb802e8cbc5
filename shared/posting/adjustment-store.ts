import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { type ClientId, ClientIdSchema, UuidSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { adjustmentKey, adjustmentsPk } from '../table/keys.ts'
import { queryAll } from '../table/list-items.ts'
import { isNew, put, type Step } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'

export const ADJUSTMENT_KINDS = ['recovered', 'written_off', 'correction'] as const

/** A repeated reference must have the same figures. */
export const AdjustmentSchema = v.object({
  clientId: ClientIdSchema,
  /** A repeat writes nothing. */
  reference: v.string(),
  kind: v.picklist(ADJUSTMENT_KINDS),
  /** The change of the client's balance, signed. */
  amountMinor: MinorSchema,
  providerTransactionId: v.optional(v.string()),
  notes: v.optional(v.string()),
  entryId: UuidSchema,
  eligibleAt: TimestampSchema,
})
export type Adjustment = v.InferOutput<typeof AdjustmentSchema>

export function putAdjustment(adjustment: Adjustment): Step {
  return put(adjustmentKey(adjustment.clientId, adjustment.reference), adjustment, isNew)
}

export async function findAdjustment(deps: TableDeps, clientId: ClientId, reference: string) {
  return v.parse(
    v.optional(AdjustmentSchema),
    await deps.table.get(adjustmentKey(clientId, reference)),
  )
}

/** Reads every adjustment of a client; operators make a few. */
export async function listAdjustments(
  deps: TableDeps,
  clientId: ClientId,
): Promise<readonly Adjustment[]> {
  return (await queryAll(deps, { partition: [adjustmentsPk(clientId)], limit: 500 })).map((item) =>
    v.parse(AdjustmentSchema, item),
  )
}
