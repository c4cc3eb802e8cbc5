import type { Context } from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { runtimeDeps } from './runtime-deps.ts'

export type LambdaHandler<Event, Result> = (event: Event, context: Context) => Promise<Result>

/** A Lambda handler that the local gateway, the tests and the simulation run with dependencies of their own. */
export type InjectableHandler<Event, Result> = LambdaHandler<Event, Result> & {
  readonly withDeps: (deps: Deps) => LambdaHandler<Event, Result>
}

/** On AWS the dependencies are made once, at the first invocation, and kept for the life of the environment. */
export const injectable = <Event, Result>(
  build: (deps: Deps) => LambdaHandler<Event, Result>,
): InjectableHandler<Event, Result> => {
  let deployed: LambdaHandler<Event, Result> | undefined
  const handler: LambdaHandler<Event, Result> = (event, context) => {
    deployed ??= build(runtimeDeps())
    return deployed(event, context)
  }
  return Object.assign(handler, { withDeps: build })
}
