import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'

/** What no fault of the world is the cause of: a row or an answer that is not as its reader expects it, a mistake. */
const isUnforeseen = (error: unknown): error is Error =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  (error instanceof Error && error.name === 'ValiError')

/** Checked at every line of a log: whatever goes wrong, nobody meets what it cannot read. */
export const watchErrors = (world: World, seen: Observations): void => {
  world.onError.push(({ name, isFormer }, error) => {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
    for (const one of errors.filter(isUnforeseen)) {
      seen.problems.push(
        `${name}${isFormer ? ' of the release before' : ''} has met what it cannot read: ${one.message}`,
      )
    }
  })
}
