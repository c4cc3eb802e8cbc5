import type { Deps } from '../deps.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

/** The description that the operators' command line shows. */
type ScheduledWork = { readonly summary: string }

/**
 * Wraps a scheduled function. It accepts any payload and answers the run's summary. A failure is logged here, and the
 * thrown error has no cause: Lambda would log it, and a table error carries whole items. In a closed stage nothing
 * runs, because after a restore the sync would post partly restored payments twice.
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
      if (done === undefined) throw new Error('the run failed; see its log for the cause')
      return done
    }),
    { summary },
  )
