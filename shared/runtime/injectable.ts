import middy, { type MiddyfiedHandler } from '@middy/core'
import type { Context } from 'aws-lambda'
import type { Deps, TableDeps } from '../deps.ts'
import { ENV } from './config.ts'
import { isProbe, isRouteProbe, namesVersion, PROVEN } from './release/probe.ts'
import { runtimeDeps } from './runtime-deps.ts'
import { readNothing, warmTable } from './warm-table.ts'

export type LambdaHandler<Event, Result> = (event: Event, context: Context) => Promise<Result>

/** The local gateway, the tests and the simulation run it with their own dependencies. */
export type InjectableHandler<Event, Result> = LambdaHandler<Event, Result> & {
  readonly withDeps: (deps: Deps) => LambdaHandler<Event, Result>
}

const deployedDeps = process.env[ENV.stage] === undefined ? undefined : runtimeDeps()
if (deployedDeps) await warmTable(deployedDeps)

/** Every handler answers a probe before any effect. A failed probe fails the invocation. */
export function injectable<Event, Result>(
  build: (deps: Deps) => LambdaHandler<Event, Result>,
  isHttp = false,
): InjectableHandler<Event, Result> {
  const notDeployed = () => {
    throw new Error(`${ENV.stage} is not set: outside AWS, pass the dependencies with withDeps`)
  }
  const withDeps = (deps: Deps) => pipeline<Event, Result>([probe(deps, isHttp)], build(deps))
  return Object.assign(deployedDeps ? withDeps(deployedDeps) : notDeployed, { withDeps })
}

export type Middleware = Extract<Parameters<MiddyfiedHandler['use']>[0], unknown[]>[number]

/** A method, so that a handler may take what middlewares have added to the event. */
type Handler<Event> = { handle(event: Event, context: Context): Promise<unknown> }['handle']

/** The hooks run in the order of the list before the handler, and in reverse order after it. */
export function pipeline<Event, Result>(
  middlewares: readonly Middleware[],
  handler: Handler<Event>,
  timeoutEarlyInMillis = 0,
): LambdaHandler<Event, Result> {
  return middy<Event>({ timeoutEarlyInMillis })
    .handler(handler)
    .use([...middlewares])
}

/**
 * Who holds the prover's role can invoke versions by number, but gets no work done by them. One
 * empty read proves that the role and the table let the function work.
 */
export function probe(deps: TableDeps, isHttp = false) {
  return {
    before: async ({ event, context }: { event: unknown; context: Context }) => {
      if (!isProbe(event)) {
        if (namesVersion(context) && !(isHttp && isRouteProbe(event)))
          throw new Error('a version that is invoked by its number answers only probes')
        return undefined
      }
      await readNothing(deps).catch((error: unknown) => {
        // A table error carries whole items, and Lambda logs this error.
        throw new Error(
          `the table cannot be read: ${error instanceof Error ? error.name : 'unknown error'}`,
        )
      })
      return PROVEN
    },
  }
}
