import { beforeAll, describe, expect, it } from 'vitest'
import { takesEvery } from '../../support/runs.ts'
import { rest, startPlay } from '../histories/history.ts'
import { drive } from '../world/drive.ts'
import { NO_FAULTS } from '../world/faults.ts'
import { type LoadedFunction, loadFunctions } from '../world/handlers.ts'
import { type CrashPoint, type Process } from '../world/process.ts'
import { FLOWS, type Flow } from './flows.ts'

/**
 * Goal: a process may die at any await of any flow, and nothing is lost, doubled or stuck.
 * Method: not random. Each flow runs once to count its awaits; then it is killed at every one of them, before its answer
 * comes back. Its caller tries again as a caller would, the world rests, and everything is checked. A death before the next
 * call leaves shows the world the same, unless calls leave together; so does a death after a call that only reads. Those
 * are killed by night, and the first await also before it. The counts are asserted: a new await is a new crash point.
 */

/** Awaits of each flow. */
const AWAITS: Readonly<Record<string, number>> = {
  create: 5,
  'create, taking over': 6,
  'long page, counted': 5,
  'long page, refused': 2,
  callback: 8,
  'callback, wrong amount': 10,
  cancel: 5,
  'due work, handed out': 35,
  expiry: 10,
  'cancel, past its time': 9,
  'expiry, after a cancel that failed': 14,
  'lost callback': 14,
  'messages that were not sent': 5,
  deliver: 6,
  'deliver, refused by the merchant': 7,
  'deliver, to an endpoint that hangs': 8,
  'deliver, sent on to the slow lane': 2,
  'deliver, answered in the slow lane': 7,
  'redelivery, by its merchant': 5,
  'deliver, abandoned': 6,
  'alerts of an endpoint': 28,
  sweep: 3,
  settle: 28,
  'settle, in steps': 32,
  trigger: 29,
  'mark paid': 20,
  'mark failed': 3,
  recredit: 4,
  'settle a re-credit': 29,
  adjust: 5,
  audit: 18,
  'audit, of a settlement': 17,
  sync: 9,
  'sync, posting': 24,
  'sync, finding a lost capture': 15,
  'sync, of money that went back': 15,
  'sync, of a dispute that was won': 15,
  'sync, by a worker that is woken': 15,
  grow: 20,
  refresh: 15,
}

/** A call that leaves the world as it was. */
const READS = /^(table (get|batchGet|query)|provider GET .*|get secret|seal|unseal|resolve host)$/

const sidesOf = (at: number, label: string): readonly ('before' | 'after')[] => {
  if (takesEvery) return ['before', 'after']
  const sides = READS.test(label) ? [] : (['after'] as const)
  return at === 0 ? ['before', ...sides] : sides
}

let functions: ReadonlyMap<string, LoadedFunction>

beforeAll(async () => {
  functions = await loadFunctions()
})

describe('a crash at every await', () => {
  it('covers every flow', () => {
    expect(FLOWS.map(({ name }) => name)).toStrictEqual(Object.keys(AWAITS))
  })

  it.each(FLOWS)('of "$name" leaves nothing lost, doubled or stuck', { timeout: 120_000 }, async (flow) => {
    const awaits = await awaitsOf(functions, flow)
    const failures: string[] = []
    for (const [at, label] of awaits.entries()) {
      for (const side of sidesOf(at, label)) {
        const { problems } = await crashAt(functions, flow, { await: at + 1, side })
        if (problems.length > 0) failures.push(`${side} await ${at + 1} (${label}): ${problems.slice(0, 3).join('; ')}`)
      }
    }

    expect(failures).toStrictEqual([])
    expect(awaits).toHaveLength(AWAITS[flow.name] ?? 0)
  })
})

type Functions = ReadonlyMap<string, LoadedFunction>

/** One seed for all: what differs between two runs is the crash alone. */
const SEED = 1

/** The awaits of a flow, in order: counted by running it once without a crash. */
const awaitsOf = async (functions: Functions, flow: Flow): Promise<readonly string[]> => {
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
