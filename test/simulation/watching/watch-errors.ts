import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { namesOf, type Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'

/** Errors that no fault of the world causes: an unreadable row or answer, a state that was ruled out, a bad request. */
const UNFORESEEN = ['ValiError', 'InvariantError', 'ValidationException', 'OutsideModel']
/** A page of it that the world cuts short is none of a megabyte. */
const ONE_PAGE = 'a ledger fits one page'

const isUnforeseen = (error: unknown): error is Error =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  (error instanceof Error &&
    error.message !== ONE_PAGE &&
    (UNFORESEEN.includes(error.name) || error.message.startsWith('InvalidParameter')))

const partsOf = (error: unknown): readonly unknown[] => (error instanceof AggregateError ? error.errors : [error])

/** A write that others were in the way of is tried again, more often than this. */
const LEAST_TRIES = 3
/** What a worker says that gives up news of a payment since others went on changing it. */
const KEPT_CHANGING = /^a payment kept changing while news about it was applied/

const isContended = (error: Error): boolean =>
  error instanceof TransactionConflictException ||
  (error instanceof TransactionCanceledException &&
    (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ThrottlingError'))

/** Checked at every error: it is none of those, no worker gives up too early, and none fails by another one's error. */
export const watchErrors = (world: World, seen: Observations): void => {
  const conflicts = new WeakMap<Process, number>()
  const metBy = new WeakMap<Error, Process>()
  /** The unfinished work of another process continues under the name of this one. */
  const met = (process: Process) => namesOf(world, process).reduce((sum, one) => sum + (conflicts.get(one) ?? 0), 0)

  let changes = 0
  const before = new WeakMap<Process, number>()
  world.onStarted.push((process) => before.set(process, changes))
  world.onChange.push(({ key }) => {
    if (key.sk === 'PAYMENT') changes++
  })

  world.onFault.push((fault) => {
    // Where an index is throttled its writes are in the way, too.
    if (!['tableConflict', 'indexThrottled'].includes(fault) || world.acting === undefined) return
    conflicts.set(world.acting, (conflicts.get(world.acting) ?? 0) + 1)
  })

  world.onError.push((process, error) => {
    const { name } = process
    for (const one of partsOf(error)) {
      if (isUnforeseen(one)) {
        seen.problems.push(`${name} has met what it cannot read: ${one.message}`)
      }
      if (!(one instanceof Error)) continue
      if (isContended(one) && met(process) < LEAST_TRIES)
        seen.problems.push(`${name} has given up since another transaction was under way`)
      if (KEPT_CHANGING.test(one.message) && changes - (before.get(process) ?? 0) < LEAST_TRIES)
        seen.problems.push(`${name} has given up a payment that was not changed`)
      if ((metBy.get(one) ?? process) !== process)
        seen.problems.push(`${name} fails by what went wrong for another one before: ${one.message}`)
      metBy.set(one, process)
    }
  })
}
