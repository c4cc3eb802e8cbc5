import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { absent, equals } from '../table/condition.ts'
import { syncCursorKey } from '../table/keys.ts'
import { getItem } from '../table/read.ts'
import { update } from '../table/step.ts'
import { conditionalWrite } from '../table/write.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'

type CursorDeps = Pick<Deps, 'table' | 'sleep' | 'random'>

/** Up to when the provider's transactions have been read; undefined before the first run. */
export const readSyncCursor = async (deps: CursorDeps): Promise<Timestamp | undefined> => {
  const item = await getItem(deps, syncCursorKey)
  return item && v.parse(v.object({ until: TimestampSchema }), item).until
}

/** Moves the cursor on its old value; refused when another run has moved it meanwhile. */
export const moveSyncCursor = (deps: CursorDeps, from: Timestamp | undefined, until: Timestamp) =>
  conditionalWrite(
    deps,
    update(syncCursorKey, { set: { until } }, from === undefined ? absent('until') : equals('until', from)),
  )
