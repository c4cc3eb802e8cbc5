import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { equals } from '../table/condition.ts'
import { syncCursorKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { addMs, DAY_MS, type Timestamp, TimestampSchema } from '../time.ts'

/** The one position of releases before this one, which may come back: it is kept a day behind for them. */
const SyncCursorSchema = v.object({
  position: TimestampSchema,
  openSince: v.optional(TimestampSchema),
})
export type SyncCursor = v.InferOutput<typeof SyncCursorSchema>

/** Undefined where no earlier release ever ran. */
export const readSyncCursor = async (deps: Pick<Deps, 'table'>): Promise<SyncCursor | undefined> => {
  const item = await deps.table.get(syncCursorKey)
  return item && v.parse(SyncCursorSchema, item)
}

/**
 * Moves it a day behind `readUpTo`, once a day, so that an earlier release that is brought back skips nothing and need
 * not begin in the distant past.
 */
export const trailSyncCursor = async (deps: Pick<Deps, 'table'>, readUpTo: Timestamp): Promise<void> => {
  const cursor = await readSyncCursor(deps)
  if (cursor === undefined || cursor.position >= addMs(readUpTo, -2 * DAY_MS)) return
  const moved = { set: { position: addMs(readUpTo, -DAY_MS) }, remove: ['openSince'] }
  await deps.table.write(update(syncCursorKey, moved, equals('position', cursor.position)))
}
