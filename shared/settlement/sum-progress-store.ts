import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, UuidSchema } from '../ids.ts'
import { type Window } from '../ledger/window-store.ts'
import { all, equals, unchanged } from '../table/condition.ts'
import { windowKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'
import { EntrySumsSchema } from './entry-sums.ts'

const KeptSumSchema = v.object({
  /** The window's start that it belongs to. */
  start: TimestampSchema,
  /** Up to which time the window was closed for it. */
  end: TimestampSchema,
  sums: EntrySumsSchema,
  /** The last entry in the sums. */
  position: v.optional(v.object({ eligibleAt: TimestampSchema, entryId: UuidSchema })),
})
export type KeptSum = Omit<v.InferOutput<typeof KeptSumSchema>, 'start'>

/** The sum that an earlier run began for the window as it is now. One of another start is nobody's any more. */
export const keptSum = ({ settledUntil, progress }: Window): KeptSum | undefined => {
  if (progress === undefined) return undefined
  const kept = v.parse(KeptSumSchema, progress)
  return kept.start === settledUntil ? kept : undefined
}

/**
 * Keeps how far a window is summed. False when another run has swept it, or has kept something, since it was read: sums
 * are never added to others than those they follow.
 */
export const keepSum = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { settledUntil, progressNumber }: Pick<Window, 'settledUntil' | 'progressNumber'>,
  { sums, position, end }: KeptSum,
): Promise<boolean> => {
  const progress = { start: settledUntil, end, sums, ...(position && { position }) }
  const { applied } = await deps.table.write(
    update(
      windowKey(clientId),
      { set: { progress, progressNumber: (progressNumber ?? 0) + 1 } },
      all(equals('settledUntil', settledUntil), unchanged('progressNumber', progressNumber)),
    ),
  )
  return applied
}
