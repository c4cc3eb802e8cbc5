import type { Deps } from '../deps.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../time.ts'
import { StaleSteps, type Steps, type TransactOutcome } from './table.ts'

/** How old the times in a transaction's steps may get while it is tried again. */
const FRESH_MS = MINUTE_MS

/**
 * A transaction whose steps say when something happened. `stale`: others were in the way until a minute after `madeAt`,
 * as when the environment was frozen meanwhile; nothing was written, and the steps must be made anew.
 */
export const transactWhileFresh = async <Name extends string>(
  { table }: Pick<Deps, 'table'>,
  steps: Steps<Name>,
  madeAt: Timestamp,
): Promise<TransactOutcome<Name> | { readonly applied: 'stale' }> => {
  try {
    return await table.transact(steps, { freshUntil: addMs(madeAt, FRESH_MS) })
  } catch (error) {
    if (error instanceof StaleSteps) return { applied: 'stale' }
    throw error
  }
}
