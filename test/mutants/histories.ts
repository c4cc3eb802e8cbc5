/** Random histories of the simulation as a file of tests. `npm run mutants` alone asks it, after every other file. */
import { expect, it } from 'vitest'
import { loadRun } from '../simulation/run-seeds.ts'

const SEEDS = Array.from({ length: 10 }, (_, at) => at + 1)

const run = await loadRun()

it.each(SEEDS)('the history of seed %i keeps every promise', async (seed) => {
  expect((await run(seed)).problems).toStrictEqual([])
})
