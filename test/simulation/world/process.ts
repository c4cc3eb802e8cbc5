import type { Faults } from './faults.ts'
import type { Prng } from './prng.ts'
import type { Scheduler } from './scheduler.ts'
import { count, type Tally } from './tally.ts'

/**
 * Where to kill a process: at its n-th await, before the call leaves or before the answer comes
 * back.
 */
export type CrashPoint = { readonly await: number; readonly side: 'before' | 'after' }

/** One run of one handler: what Lambda calls an invocation. It can be killed at any await. */
export type Process = ReturnType<typeof startProcess>

type Host = {
  readonly scheduler: Scheduler
  readonly prng: Prng
  readonly faults: Faults
  readonly tally: Tally
}

export function startProcess(
  host: Host,
  name: string,
  crashAt: CrashPoint | undefined,
  onKilled: () => void,
) {
  const { scheduler, prng, tally } = host
  const { crash, slowCall } = host.faults
  const awaits: string[] = []
  let alive = true
  let underWay = 0
  let held: (() => void)[] | undefined

  const within = (run: () => void) => {
    if (held) held.push(run)
    else run()
  }

  const kill = () => {
    if (!alive) return
    alive = false
    onKilled()
  }

  const dies = (side: CrashPoint['side']) =>
    (crashAt?.await === awaits.length && crashAt.side === side) ||
    (crash > 0 && prng.chance(crash / 2))

  /**
   * One call to the outside: it leaves, has its effect and comes back, each after its own drawn or
   * given time.
   */
  const call = <T>(
    label: string,
    effect: () => T,
    durationMs?: number,
    onItsWayMs = 0,
  ): Promise<T> => {
    // A killed process does nothing more, but its earlier calls still take effect.
    if (!alive) return never()
    awaits.push(label)
    if (dies('before')) {
      kill()
      return never()
    }
    const crashAfter = dies('after')
    const isSlow = prng.chance(slowCall)
    if (isSlow) count(tally, 'fault slowCall')
    underWay++
    const outwardMs = onItsWayMs + (isSlow ? prng.int(50, 4_000) : prng.int(1, 5))
    const backMs = durationMs ?? prng.int(1, 15)
    return new Promise<T>((resolve, reject) => {
      scheduler.after(outwardMs, () => {
        // The effect is now; its answer settles the promise later.
        let report: () => void
        try {
          const value = effect()
          report = () => resolve(value)
        } catch (error) {
          report = () => reject(error)
        }
        const comesBack = () => {
          underWay--
          if (crashAfter) kill()
          if (alive) report()
        }
        scheduler.after(backMs, () => within(comesBack))
      })
    })
  }

  const waited = (begin: (over: () => void) => unknown) =>
    new Promise<void>((resolve) => {
      underWay++
      begin(() => {
        underWay--
        resolve()
      })
    })

  return {
    name,
    alive: () => alive,
    kill,
    /**
     * Lambda freezes the environment: no answer and no timer reaches the process until it is
     * thawed.
     */
    freeze: () => {
      held ??= []
    },
    thaw: () => {
      const waiting = held ?? []
      held = undefined
      for (const run of waiting) run()
    },
    awaits: awaits as readonly string[],
    /**
     * Whether it waits for an answer or a timer. Work that its handler left open continues with the
     * environment.
     */
    isBusy: () => underWay > 0,
    call,
    /** Delays a request that has left. A frozen process does not stop it. */
    delay: (ms: number) => waited((over) => scheduler.after(ms, over)),
    sleep: (ms: number) =>
      waited((over) => {
        if (alive) scheduler.after(ms, () => within(() => alive && over()))
      }),
  }
}

function never<T>() {
  return new Promise<T>(() => undefined)
}
