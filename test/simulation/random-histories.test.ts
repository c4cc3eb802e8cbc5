/**
 * Goal: the invariants hold for every fault and every order of events; a seed gives the same
 * history, byte for byte, and several processes the same results as one. Method: fixed seeds, in
 * one process and in two; each draws its faults and its operations, then the faults stop and
 * everything must come to rest. `npm run sim -- --seed N --trace` prints a history.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDirectory } from '../support/temp-directory.ts'
import type { HistoryOptions } from './histories/history.ts'
import { runSeed, runSeeds, type SeedResult } from './run-seeds.ts'
import { runForked } from './world/fork-pool.ts'

/**
 * Short histories, which fit into the time of `npm test`. `.ci/run` plays whole ones, and asks for
 * the situations.
 */
const OPERATIONS = 3
const SEEDS = { from: 3, to: 4, operations: OPERATIONS }

it('every invariant holds, and two processes give the results of one, in order', async () => {
  const reported: SeedResult[] = []
  const results = await runSeeds({ ...SEEDS, jobs: 2 }, (result) => reported.push(result))

  expect(results.map(({ seed, failure }) => [seed, failure])).toStrictEqual([
    [3, undefined],
    [4, undefined],
  ])
  expect(results[1]).toStrictEqual(await runSeed({ seed: 4, operations: OPERATIONS }))
  expect(reported.toSorted((a, b) => a.seed - b.seed)).toStrictEqual(results)
})

it('a seed that ends its process fails, and another process takes the others', async () => {
  const worker = join(tempDirectory(), 'worker.cjs')
  writeFileSync(
    worker,
    "process.on('message', (task) => task === 2 ? process.exit(3) : process.send(task))",
  )
  const [results, lost]: [unknown[], unknown[]] = [[], []]
  await runForked(
    worker,
    [1, 2, 3],
    1,
    (result) => results.push(result),
    (...ended) => lost.push(ended),
  )

  expect({ results, lost }).toStrictEqual({
    results: [1, 3],
    lost: [[2, 'its process ended (3) before its result']],
  })
})

it('shows a failing history by its shortest prefix that fails, and how to replay it', async () => {
  const run = async ({ seed, operations = 60, tracing = false }: HistoryOptions) => ({
    seed,
    steps: operations,
    tally: new Map(),
    digest: 'd',
    story: tracing ? [`traced to ${operations}`] : [],
    problems: operations >= 17 ? ['a payment is lost'] : [],
  })

  expect((await runSeed({ seed: 9 }, run)).failure).toBe(
    [
      'traced to 17',
      '\nseed 9 fails, the shortest prefix has 17 operations:',
      '  - a payment is lost',
      'replay: npm run sim -- --seed 9 --steps 17 --trace',
    ].join('\n'),
  )
})
