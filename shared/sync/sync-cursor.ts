import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { unchanged } from '../table/condition.ts'
import { syncCursorKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'

const SyncCursorSchema = v.object({
  /** Where reading goes on. What was updated before has been read to its end, in this round or an earlier one. */
  position: TimestampSchema,
  /** The oldest transaction of this round that could not be looked at: the next round begins there at the latest. */
  openSince: v.optional(TimestampSchema),
})
export type SyncCursor = v.InferOutput<typeof SyncCursorSchema>

/** Undefined before the first run. */
export const readSyncCursor = async (deps: Pick<Deps, 'table'>): Promise<SyncCursor | undefined> => {
  const item = await deps.table.get(syncCursorKey)
  return item && v.parse(SyncCursorSchema, item)
}

/** Moves the cursor on its old value; refused when another run has moved it meanwhile. */
export const moveSyncCursor = (deps: Pick<Deps, 'table'>, from: SyncCursor | undefined, to: SyncCursor) =>
  deps.table.write(
    update(
      syncCursorKey,
      { set: to, remove: to.openSince === undefined ? ['openSince'] : [] },
      unchanged('position', from?.position),
    ),
  )
