import type { Deps } from '../deps.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

/** Wraps what a schedule starts. Any payload will do, `{}` too; the answer is the run's summary, for people who invoke it. */
export const scheduleHandler = (run: (deps: Deps) => Promise<object>): InjectableHandler<unknown, object> =>
  injectable((deps) => async () => run(deps))
