import type { Context } from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { ENV } from './config.ts'
import { isProbe, PROVEN } from './release/probe.ts'
import { runtimeDeps } from './runtime-deps.ts'
import { readNothing, warmTable } from './warm-table.ts'

export type LambdaHandler<Event, Result> = (event: Event, context: Context) => Promise<Result>

/** A Lambda handler that the local gateway, the tests and the simulation run with dependencies of their own. */
export type InjectableHandler<Event, Result> = LambdaHandler<Event, Result | typeof PROVEN> & {
  readonly withDeps: (deps: Deps) => LambdaHandler<Event, Result>
}

const start = async (): Promise<Deps> => {
  const deps = runtimeDeps()
  await warmTable(deps)
  return deps
}

/** Only in a deployed environment: there, while it starts and before its first request. */
const deployedDeps = process.env[ENV.stage] === undefined ? undefined : await start()

/**
 * A probe ends here, before any effect. The bundle is loaded and the configuration is read by now; one read of nothing
 * shows that the role and the table let the function work.
 */
export const answeringProbes =
  <Event, Result>(
    deps: Pick<Deps, 'table'>,
    handler: LambdaHandler<Event, Result>,
  ): LambdaHandler<Event, Result | typeof PROVEN> =>
  async (event, context) => {
    if (!isProbe(event)) return handler(event, context)
    await readNothing(deps).catch((error: unknown) => {
      // By its class alone: an error of the table carries whole items, and Lambda writes this one down.
      throw new Error(`the table cannot be read: ${error instanceof Error ? error.name : 'unknown error'}`)
    })
    return PROVEN
  }

/** On AWS everything is made once, while the environment starts, and kept for its life. */
export const injectable = <Event, Result>(
  build: (deps: Deps) => LambdaHandler<Event, Result>,
): InjectableHandler<Event, Result> => {
  const handler = deployedDeps ? answeringProbes(deployedDeps, build(deployedDeps)) : notDeployed
  return Object.assign((event: Event, context: Context) => handler(event, context), { withDeps: build })
}

const notDeployed = (): never => {
  throw new Error(`${ENV.stage} is not set: outside of AWS a handler is given its dependencies by withDeps`)
}
