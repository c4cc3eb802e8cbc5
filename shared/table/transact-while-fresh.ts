import type { Deps } from '../deps.ts'
import type { Timestamp } from '../time.ts'
import { StaleSteps, type Steps, type TransactOutcome } from './table.ts'

/**
 * A transaction whose steps contain a time or earlier reads. `stale`: it was not applied by `freshUntil`, for example
 * because of conflicts or a frozen environment. Nothing was written then, and the caller must build new steps.
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
