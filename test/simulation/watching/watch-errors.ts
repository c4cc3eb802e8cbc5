import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'

/** Errors that no fault of the world causes: an unreadable row or answer, a broken invariant, an invalid request. */
const UNFORESEEN = ['ValiError', 'InvariantError', 'ValidationException', 'OutsideModel']

const isUnforeseen = (error: unknown): error is Error =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  (error instanceof Error && (UNFORESEEN.includes(error.name) || error.message.startsWith('InvalidParameter')))

const partsOf = (error: unknown): readonly unknown[] => (error instanceof AggregateError ? error.errors : [error])

/** Checked at every logged error: a fault of the world explains it, and no process fails by an error of another one. */
export const watchErrors = (world: World, seen: Observations): void => {
  const metBy = new WeakMap<Error, Process>()

  world.onError.push((process, error) => {
    const { name } = process
    for (const one of partsOf(error)) {
      if (isUnforeseen(one)) seen.problems.push(`${name} cannot read or do what it met: ${one.message}`)
      if (!(one instanceof Error)) continue
      if ((metBy.get(one) ?? process) !== process)
        seen.problems.push(`${name} fails by an error that another process met before: ${one.message}`)
      metBy.set(one, process)
    }
  })
}
