import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { PositionSchema } from '../journal/entry-store.ts'
import { type Window } from '../ledger/window-store.ts'
import { windowKey } from '../table/keys.ts'
import { all, equals, unchanged, update } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'
import { EntrySumsSchema } from './sum-entries.ts'

const KeptSumSchema = v.object({
  start: TimestampSchema,
  end: TimestampSchema,
  sums: EntrySumsSchema,
  position: v.optional(PositionSchema),
})
type KeptSum = Omit<v.InferOutput<typeof KeptSumSchema>, 'start'>

/** The progress of an earlier run, unless it is of an earlier window. */
export const keptSum = ({ settledUntil, progress }: Window): KeptSum | undefined => {
  if (progress === undefined) return undefined
  const kept = v.parse(KeptSumSchema, progress)
  return kept.start === settledUntil ? kept : undefined
}

/** Stores the progress of a window's sum. Refused if another run has swept it, or stored progress, after the read. */
export const keepSum = async (
  deps: TableDeps,
  clientId: ClientId,
  { settledUntil, progressNumber }: Pick<Window, 'settledUntil' | 'progressNumber'>,
  { sums, position, end }: KeptSum,
): Promise<void> => {
  const progress = { start: settledUntil, end, sums, ...(position && { position }) }
  const changes = { set: { progress, progressNumber: (progressNumber ?? 0) + 1 } }
  const isAsRead = all(equals('settledUntil', settledUntil), unchanged('progressNumber', progressNumber))
  await deps.table.write(update(windowKey(clientId), changes, isAsRead))
}
