import type { Deps } from '../deps.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

/** What the operators' command line shows of work that it can start as well. */
type ScheduledWork = { readonly summary: string }

/**
 * Wraps what a schedule starts. Any payload will do, `{}` too; the answer is the run's summary, for people who invoke it.
 * A run that breaks off is written down and fails with an error that says no more: Lambda itself would log the cause
 * with everything in it, and an error of the table carries whole items. In a closed stage nothing runs: after a restore
 * the sync would post torn payments a second time.
 */
export const scheduleHandler = (
  { summary }: ScheduledWork,
  run: (deps: Deps) => Promise<object>,
): InjectableHandler<unknown, object> & ScheduledWork =>
  Object.assign(
    injectable<unknown, object>((deps) => async (_, { functionName }) => {
      if (deps.stage.isClosed === true) throw new Error('the stage is closed: recount the ledgers and open it first')
      const done = await run(deps).catch((error: unknown) => {
        deps.log.error('invocation.failed', { function: functionName }, error)
      })
      if (done === undefined) throw new Error('the run broke off; its log says where')
      return done
    }),
    { summary },
  )
