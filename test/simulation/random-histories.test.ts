/**
 * Goal: the invariants hold for every fault and every order of events (issue: deterministic simulation of the gateway).
 * Method: fixed seeds; each draws its faults and its operations, then the faults stop and everything must come to rest.
 * A failure names its seed: `npm run sim -- --seed N --trace` prints its story.
 */
import { describe, expect, it } from 'vitest'
import { loadRun } from './run-seeds.ts'

/** What fits into the time of `npm test`. `.ci/run` continues from there, and asks for the situations. */
const SEEDS = 2

const run = await loadRun()

describe('random histories of the whole gateway', () => {
  it(`hold every invariant from seed 1 to ${SEEDS}`, { timeout: 300_000 }, async () => {
    const failures: string[] = []
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { problems } = await run(seed)
      if (problems.length > 0)
        failures.push(`npm run sim -- --seed ${seed} --trace: ${problems.slice(0, 5).join('; ')}`)
    }
    expect(failures).toStrictEqual([])
  })
})
