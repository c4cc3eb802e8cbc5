import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { syncJobKey } from '../table/keys.ts'
import { dueWork, exists, isNew, put, type Step, unchanged, update } from '../table/step.ts'
import { UPSTREAM } from '../table/upstream.ts'
import { type Head, HeadSchema, type Slice } from './sync-job.ts'

const HEAD = 'head'

export const readHead = async (deps: TableDeps): Promise<Head | undefined> => {
  const item = await deps.table.get(syncJobKey(HEAD))
  return item && v.parse(HeadSchema, item)
}

/** Moves the head; refused when another planner has moved it. */
export const moveHead = (from: Head | undefined, to: Head): Step =>
  update(syncJobKey(HEAD), { set: { ...to, provider: UPSTREAM } }, unchanged('round', from?.round))

/** Records the row density, from which the next round's slices are cut. */
export const noteDensity = (deps: TableDeps, rowsPerMinute: number) =>
  deps.table.write(update(syncJobKey(HEAD), { set: { rowsPerMinute } }, exists))

export const newSlice = (slice: Slice): Step =>
  put(syncJobKey(slice.id), { ...slice, provider: UPSTREAM, ...dueWork('sync', slice.id, slice.dueAt) }, isNew)
