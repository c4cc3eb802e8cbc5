import type { Context } from 'aws-lambda'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { HostedHandler } from '../../../infra/local/functions/function-host.ts'
import { grantedDeps } from '../../../infra/local/functions/granted-deps.ts'
import { loadHandlers } from '../../../infra/local/functions/load-handlers.ts'
import { type Process } from './process.ts'
import { simDeps } from './sim-deps.ts'
import { count } from './tally.ts'
import { hasFault, namesOf, SIM_STAGE, type World } from './world.ts'

/** A Lambda environment: it keeps a handler and its caches between invocations. */
export type Environment = {
  readonly loaded: HostedHandler
  readonly timeoutMs: number
  readonly handle: (event: unknown, context: object) => Promise<unknown>
  /**
   * The monotonic clock: whether it stops while frozen, how long it has stopped so far, and the
   * last freeze.
   */
  clockStops: boolean
  stoppedMs: number
  frozenAtMs: number
  process: Process
  /**
   * A process whose caller was answered early. It continues in the next invocation, under that
   * invocation's name.
   */
  unfinished?: Process | undefined
}

const FUNCTIONS = new Map(
  (await loadHandlers(MANIFEST)).map((loaded) => [loaded.spec.name, loaded]),
)

export function functionOf(name: string) {
  const loaded = FUNCTIONS.get(name)
  if (!loaded) throw new Error(`no function ${name} in the manifest`)
  return loaded
}

export function takeEnvironment(
  world: World,
  loaded: HostedHandler,
  process: Process,
  { cold }: { readonly cold: boolean },
) {
  const idle = cold || hasFault(world, 'environmentLost') ? undefined : idleOf(world, loaded).pop()
  if (!idle) return start(world, loaded, process)
  count(world.tally, 'started warm')
  if (idle.clockStops) idle.stoppedMs += world.scheduler.nowMs() - idle.frozenAtMs
  const { process: frozen, unfinished } = idle
  const isLeft = namesOf(world, frozen).some((run) => run.alive() && run.isBusy())
  if (isLeft || unfinished?.alive() === true) world.sharing.set(process, frozen)
  idle.process = process
  frozen.thaw()
  return idle
}

const IDLE = new WeakMap<World, Map<HostedHandler, Environment[]>>()

function idleOf(world: World, loaded: HostedHandler) {
  const ofWorld = IDLE.get(world) ?? new Map<HostedHandler, Environment[]>()
  const idle = ofWorld.get(loaded) ?? []
  IDLE.set(world, ofWorld.set(loaded, idle))
  return idle
}

function start(world: World, loaded: HostedHandler, process: Process) {
  const { spec, withDeps } = loaded
  const environment: Environment = {
    loaded,
    timeoutMs: spec.timeoutSeconds * 1_000,
    handle: (event, context) => handler(event, context as Context),
    clockStops: hasFault(world, 'monotonicStops'),
    stoppedMs: 0,
    frozenAtMs: 0,
    process,
  }
  const monotonicMs = () => world.scheduler.nowMs() - environment.stoppedMs
  const deps = simDeps(world, () => environment.process, monotonicMs)
  // No function has more access than its role on AWS.
  const handler = withDeps({ ...deps, ...grantedDeps(SIM_STAGE, spec, deps) })
  return environment
}

/**
 * Freezes the environment after an invocation, until the next one or longer. A killed environment
 * never returns.
 */
export function putBack(world: World, environment: Environment, asideMs = 0) {
  environment.process.freeze()
  environment.frozenAtMs = world.scheduler.nowMs()
  const wait = () => {
    idleOf(world, environment.loaded).push(environment)
  }
  if (asideMs > 0) world.scheduler.after(asideMs, wait)
  else wait()
}
