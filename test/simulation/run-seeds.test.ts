/**
 * Goal: a seed gives the same history, byte for byte, and several processes the same results as one. Method: short
 * histories of the same seeds, run both ways.
 */
import { describe, expect, it } from 'vitest'
import { loadRun, runSeed, runSeeds, type SeedResult } from './run-seeds.ts'

describe('runSeeds', () => {
  it('gives each seed its result of one process, in the order of the seeds', { timeout: 120_000 }, async () => {
    const run = await loadRun()
    const alone: SeedResult[] = []
    for (const seed of [1, 2]) alone.push(await runSeed(run, { seed, operations: 3 }))
    const reported: SeedResult[] = []

    const results = await runSeeds({ from: 1, to: 2, jobs: 2, operations: 3 }, (result) => reported.push(result))

    expect(results).toStrictEqual(alone)
    expect(reported.toSorted((a, b) => a.seed - b.seed)).toStrictEqual(alone)
  })
})

describe('runSeed', () => {
  it('shows a failing history by its shortest prefix that fails, and how to replay it', async () => {
    const run = async (seed: number, operations = 60, tracing = false) => ({
      seed,
      steps: operations,
      tally: new Map(),
      digest: 'd',
      story: tracing ? [`traced to ${operations}`] : [],
      problems: operations >= 17 ? ['a payment is lost'] : [],
    })

    const { failure } = await runSeed(run, { seed: 9 })

    expect(failure).toBe(
      [
        'traced to 17',
        '\nseed 9 fails, the shortest prefix has 17 operations:',
        '  - a payment is lost',
        'replay: npm run sim -- --seed 9 --steps 17 --trace',
      ].join('\n'),
    )
  })
})
