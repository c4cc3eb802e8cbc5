import type { Deps } from '../deps.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

/**
 * Wraps what a schedule starts. Any payload will do, `{}` too; the answer is the run's summary, for people who invoke it.
 * A run that breaks off is written down and fails with an error that says no more: Lambda itself would log the cause
 * with everything in it, and an error of the table carries whole items.
 */
export const scheduleHandler = (run: (deps: Deps) => Promise<object>): InjectableHandler<unknown, object> =>
  injectable((deps) => async (_, { functionName }) => {
    const summary = await run(deps).catch((error: unknown) => {
      deps.log.error('invocation.failed', { function: functionName }, error)
    })
    if (summary === undefined) throw new Error('the run broke off; its log says where')
    return summary
  })
