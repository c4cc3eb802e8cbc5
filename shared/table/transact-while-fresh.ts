import type { Deps } from '../deps.ts'
import type { Timestamp } from '../time.ts'
import { StaleSteps, type Steps, type TransactOutcome } from './table.ts'

/**
 * A transaction whose steps say when something happened, or what was read before. `stale`: it was not made until
 * `freshUntil`, as when others were in the way or the environment was frozen. Nothing was written then, and the steps
 * must be made anew.
 */
export const transactWhileFresh = async <Name extends string>(
  { table }: Pick<Deps, 'table'>,
  steps: Steps<Name>,
  freshUntil: Timestamp,
): Promise<TransactOutcome<Name> | { readonly applied: 'stale' }> => {
  try {
    return await table.transact(steps, { freshUntil })
  } catch (error) {
    if (error instanceof StaleSteps) return { applied: 'stale' }
    throw error
  }
}
