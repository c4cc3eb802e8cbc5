import { join } from 'node:path'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { grantedDeps } from '../../../infra/local/functions/granted-deps.ts'
import type { Deps } from '../../../shared/deps.ts'
import { namesOf, type Process } from './process.ts'
import { simDeps } from './sim-deps.ts'
import { count, isHit, SIM_STAGE, strikes, type World } from './world.ts'

/** What Lambda keeps between two invocations of a function: its handler and what that has cached. */
export type Environment = {
  readonly loaded: LoadedFunction
  readonly timeoutMs: number
  readonly handle: (event: unknown, context: unknown) => Promise<unknown>
  /** The environment's monotonic clock: whether it stops while frozen, for how long it has, and since when. */
  clockStops: boolean
  stoppedMs: number
  frozenAtMs: number
  process: Process
  /** A process that was answered early and continues during the next invocation, under its name. */
  unfinished?: Process | undefined
}

export const functionOf = ({ functions }: World, name: string): LoadedFunction => {
  const loaded = functions.get(name)
  if (!loaded) throw new Error(`no function ${name} in the manifest`)
  return loaded
}

const start = (world: World, loaded: LoadedFunction, process: Process): Environment => {
  const { spec, build } = loaded
  const environment: Environment = {
    loaded,
    timeoutMs: spec.timeoutSeconds * 1_000,
    handle: (event, context) => handler(event, context),
    clockStops: isHit(world, 'monotonicStops'),
    stoppedMs: 0,
    frozenAtMs: 0,
    process,
  }
  const monotonicMs = () => world.scheduler.nowMs() - environment.stoppedMs
  const deps = simDeps(world, () => environment.process, monotonicMs)
  // Whatever a history leads to, no function gets more than its role on AWS would let it have.
  const handler = build({ ...deps, ...grantedDeps(SIM_STAGE, spec, deps) })
  return environment
}

/** An environment for one invocation: a warm one, unless there is none or Lambda has taken it away. */
export const takeEnvironment = (
  world: World,
  loaded: LoadedFunction,
  process: Process,
  { cold }: { readonly cold: boolean },
): Environment => {
  const idle = cold || strikes(world, 'environmentLost') ? undefined : world.idle.get(loaded)?.pop()
  if (!idle) return start(world, loaded, process)
  count(world.tally, 'started warm')
  if (idle.clockStops) idle.stoppedMs += world.scheduler.nowMs() - idle.frozenAtMs
  const { process: frozen, unfinished } = idle
  const isLeft = namesOf(world, frozen).some((one) => one.alive() && one.isBusy())
  if (isLeft || unfinished?.alive() === true) world.sharing.set(process, frozen)
  idle.process = process
  frozen.thaw()
  return idle
}

/** The invocation is over: the environment is frozen until the next one, or longer. A killed one never comes back. */
export const putBack = (world: World, environment: Environment, asideMs = 0): void => {
  environment.process.freeze()
  environment.frozenAtMs = world.scheduler.nowMs()
  const wait = () => {
    const idle = world.idle.get(environment.loaded) ?? []
    idle.push(environment)
    world.idle.set(environment.loaded, idle)
  }
  if (asideMs > 0) world.scheduler.after(asideMs, wait)
  else wait()
}

type Handler = (event: unknown, context: unknown) => Promise<unknown>
type HandlerModule = { readonly handler: { readonly withDeps: (deps: Deps) => Handler } }

export type LoadedFunction = {
  readonly spec: FunctionSpec
  readonly build: (deps: Deps) => Handler
}

/** Every function of the manifest, loaded once: the real handlers, not copies of them. */
export const loadFunctions = async (): Promise<ReadonlyMap<string, LoadedFunction>> => {
  const loaded = await Promise.all(
    MANIFEST.map(async (spec) => {
      const module = (await import(join(import.meta.dirname, '../../..', spec.entry))) as HandlerModule
      return [spec.name, { spec, build: (deps: Deps) => module.handler.withDeps(deps) }] as const
    }),
  )
  return new Map(loaded)
}
