import type { Context } from 'aws-lambda'
import type { Deps, TableDeps } from '../deps.ts'
import { ENV } from './config.ts'
import { isProbe, PROVEN } from './release/probe.ts'
import { runtimeDeps } from './runtime-deps.ts'
import { readNothing, warmTable } from './warm-table.ts'

export type LambdaHandler<Event, Result> = (event: Event, context: Context) => Promise<Result>

/**
 * A Lambda handler that the local gateway, the tests and the simulation run with their own
 * dependencies.
 */
export type InjectableHandler<Event, Result> = LambdaHandler<Event, Result | typeof PROVEN> & {
  readonly withDeps: (deps: Deps) => LambdaHandler<Event, Result>
}

const deployedDeps = process.env[ENV.stage] === undefined ? undefined : runtimeDeps()
if (deployedDeps) await warmTable(deployedDeps)

export function injectable<Event, Result>(
  build: (deps: Deps) => LambdaHandler<Event, Result>,
): InjectableHandler<Event, Result> {
  const notDeployed = () => {
    throw new Error(`${ENV.stage} is not set: outside AWS, pass the dependencies with withDeps`)
  }
  const handler = deployedDeps ? answeringProbes(deployedDeps, build(deployedDeps)) : notDeployed
  return Object.assign(handler, { withDeps: build })
}

/**
 * Answers a probe before any effect. One empty read proves that the role and the table let the
 * function work.
 */
export function answeringProbes<Event, Result>(
  deps: TableDeps,
  handler: LambdaHandler<Event, Result>,
): LambdaHandler<Event, Result | typeof PROVEN> {
  return async (event, context) => {
    if (!isProbe(event)) return handler(event, context)
    await readNothing(deps).catch((error: unknown) => {
      // Only the class name: a table error carries whole items, and Lambda logs this error.
      throw new Error(
        `the table cannot be read: ${error instanceof Error ? error.name : 'unknown error'}`,
      )
    })
    return PROVEN
  }
}
