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
  /** The start of the window that it belongs to. */
  start: TimestampSchema,
  /** The end of the window, as it was closed. */
  end: TimestampSchema,
  sums: EntrySumsSchema,
  position: v.optional(PositionSchema),
})
type KeptSum = Omit<v.InferOutput<typeof KeptSumSchema>, 'start'>

/** The progress of an earlier run for the present window. Progress of another start is ignored. */
export const keptSum = ({ settledUntil, progress }: Window): KeptSum | undefined => {
  if (progress === undefined) return undefined
  const kept = v.parse(KeptSumSchema, progress)
  return kept.start === settledUntil ? kept : undefined
}

/**
 * Stores the progress of a window's sum. Nothing is stored when another run has swept it, or has stored progress, since
 * it was read: sums only continue those that they follow.
 */
export const keepSum = async (
  deps: TableDeps,
  clientId: ClientId,
  { settledUntil, progressNumber }: Pick<Window, 'settledUntil' | 'progressNumber'>,
  { sums, position, end }: KeptSum,
): Promise<void> => {
  const progress = { start: settledUntil, end, sums, ...(position && { position }) }
  await deps.table.write(
    update(
      windowKey(clientId),
      { set: { progress, progressNumber: (progressNumber ?? 0) + 1 } },
      all(equals('settledUntil', settledUntil), unchanged('progressNumber', progressNumber)),
    ),
  )
}
