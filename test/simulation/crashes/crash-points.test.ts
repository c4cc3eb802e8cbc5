import { describe, expect, it } from 'vitest'
import { isNightly, sampleOf } from '../../support/runs.ts'
import { rest, startPlay } from '../histories/history.ts'
import { NO_FAULTS } from '../world/faults.ts'
import type { CrashPoint, Process } from '../world/process.ts'
import { runUntil } from '../world/world.ts'
import { FLOWS } from './flows.ts'
import type { Flow } from './payment-flows.ts'

/**
 * Goal: a process may die at any await of any flow, and nothing is lost, doubled or stuck. Method:
 * not random. Each flow runs once to count its awaits; then it is killed at every one of them,
 * before its answer comes back. Its caller tries again as a caller would, the world rests, and
 * everything is checked. A death before the next call leaves shows the world the same, unless calls
 * leave together; so does a death after a call that only reads. The nightly run also kills the flow
 * at such points. `npm test` kills one flow in six, once, in the middle. The counts are asserted,
 * so a new await is noticed.
 */

const READS = /^(table (get|batchGet|query)|provider GET .*|get secret|seal|unseal|resolve host)$/

const KILLED = sampleOf(FLOWS, 6)

describe('a crash at every await', () => {
  it.for(FLOWS)('of "%s" leaves nothing lost, doubled or stuck', async (flow) => {
    const [, expected] = flow
    const awaits = await awaitsOf(flow)
    const failures: string[] = []
    for (const point of KILLED.includes(flow) ? pointsOf(awaits) : []) {
      const problems = await crashAt(flow, point)
      const label = awaits[point.await - 1]
      if (problems.length > 0)
        failures.push(`${point.side} await ${point.await} (${label}): ${problems[0]}`)
    }

    expect(failures).toStrictEqual([])
    expect(awaits).toHaveLength(expected)
  })
})

function pointsOf(awaits: readonly string[]) {
  const numbers = awaits.map((_, at) => at + 1)
  const after = numbers.map((number) => ({ await: number, side: 'after' }) as const)
  if (isNightly)
    return [...numbers.map((number) => ({ await: number, side: 'before' }) as const), ...after]
  const telling = after.filter(({ await: number }) => !READS.test(awaits[number - 1] ?? ''))
  const middle = telling[Math.floor(telling.length / 2)]
  return middle === undefined ? [] : [middle]
}

/** One seed for all runs, so they differ only in the crash. */
const SEED = 1

/** The awaits are counted by running the flow once without a crash. */
async function awaitsOf([, , prepare, run]: Flow) {
  const play = await startPlay({ seed: SEED })
  const prepared = await prepare(play)
  const started: Process[] = []
  await runUntil(play.world, run(play, prepared, { onProcess: (process) => started.push(process) }))
  return started.flatMap(({ awaits }) => awaits)
}

async function crashAt([, , prepare, run, retry]: Flow, point: CrashPoint) {
  const play = await startPlay({ seed: SEED })
  const prepared = await prepare(play)
  await runUntil(play.world, run(play, prepared, { crashAt: point }))
  play.world.faults = NO_FAULTS
  if (retry) await runUntil(play.world, retry(play, prepared))
  return rest(play)
}
