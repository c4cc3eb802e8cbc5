import { rest, startPlay } from '../histories/history.ts'
import { drive } from '../world/drive.ts'
import { NO_FAULTS } from '../world/faults.ts'
import type { LoadedFunction } from '../world/handlers.ts'
import type { CrashPoint, Process } from '../world/process.ts'
import type { Flow } from './flows.ts'

type Functions = ReadonlyMap<string, LoadedFunction>

/** One seed for all: what differs between two runs is the crash alone. */
const SEED = 1

/** The awaits of a flow, in order: counted by running it once without a crash. */
export const awaitsOf = async (functions: Functions, flow: Flow): Promise<readonly string[]> => {
  const play = await startPlay({ seed: SEED, functions })
  const prepared = await flow.prepare(play)
  let process: Process | undefined
  await drive(
    play.world,
    flow.run(play, prepared, {
      onProcess: (started) => {
        process = started
      },
    }),
  )
  return process?.awaits ?? []
}

/** Kills the flow at one point, lets its caller try again, lets the world rest, and says what is wrong then. */
export const crashAt = async (
  functions: Functions,
  flow: Flow,
  point: CrashPoint,
  tracing = false,
): Promise<{ readonly problems: readonly string[]; readonly story: readonly string[] }> => {
  const play = await startPlay({ seed: SEED, functions, tracing })
  const prepared = await flow.prepare(play)
  await drive(play.world, flow.run(play, prepared, { crashAt: point }))
  play.world.faults = NO_FAULTS
  await flow.retry?.(play, prepared)
  return { problems: await rest(play), story: play.world.story }
}
