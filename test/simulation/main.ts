import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import {
  readOptions,
  runProgram,
  UsageError,
  wholeNumber,
} from '../../infra/local/terminal/command-line.ts'
import { runHistory } from './histories/history.ts'
import { runSeeds, type SeedResult } from './run-seeds.ts'
import { missingSituations } from './sometimes/situations.ts'
import { addTally, type Tally } from './world/tally.ts'

const USAGE = `npm run sim -- --seed N [--steps M] [--trace]                 replays one history
npm run sim -- --seeds A..B [--steps M] [--jobs N]            runs many
  --steps M   operations of merchants, customers and operators in each history (default 36; of every 25th seed 180)
  --trace     prints everything that happened
  --jobs N    number of processes (default: one for each core); the result is the same
  --help, -h  this text
Exit code: 0 every history passed, 1 one failed, 2 wrong arguments.`

const progress = { done: 0, failures: 0 }

await runProgram(USAGE, async (argv) => {
  const { seed, seeds, steps, trace, jobs } = readOptions(argv, {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1..100' },
    steps: { type: 'string' },
    trace: { type: 'boolean', default: false },
    jobs: { type: 'string' },
  })
  const operations = steps === undefined ? undefined : integer(steps, 'steps')
  if (seed !== undefined) return replay(integer(seed, 'seed'), operations, trace)
  const [from = -1, to = -1] = seeds.split('..').map((text) => wholeNumber(text) ?? -1)
  if (from < 0 || to < from)
    throw new UsageError('--seeds takes two whole numbers, the smaller one first: 1..100')
  const processes = jobs === undefined ? availableParallelism() : integer(jobs, 'jobs', 1)
  return reportResults(await runSeeds({ from, to, jobs: processes, operations }, reportProgress))
})

function integer(text: string | undefined, name: string, least = 0) {
  const value = wholeNumber(text ?? '') ?? -1
  if (value < least) throw new UsageError(`--${name} takes a whole number from ${least} on`)
  return value
}

async function replay(seed: number, operations: number | undefined, tracing: boolean) {
  const { story, tally, steps, problems, digest } = await runHistory({ seed, operations, tracing })
  if (tracing) console.log(story.join('\n'))
  figures(tally, 1, steps, problems.length > 0 ? 1 : 0)
  console.log(`digest ${digest}`)
  for (const problem of problems) console.log(`  - ${problem}`)
  return problems.length > 0 ? 1 : 0
}

function figures(tally: Tally, histories: number, steps: number, failures: number) {
  console.log(`\n${histories} histories, ${steps} steps, ${failures} failures`)
  for (const [what, times] of [...tally].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`  ${what}: ${times}`)
}

function reportResults(results: readonly SeedResult[]) {
  const tally: Tally = new Map()
  const digest = createHash('sha256')
  for (const result of results) {
    addTally(tally, result.tally)
    digest.update(result.digest)
    if (result.failure !== undefined) console.log(result.failure)
  }
  const failing = results.filter(({ failure }) => failure !== undefined).map(({ seed }) => seed)
  const steps = results.reduce((sum, result) => sum + result.steps, 0)
  figures(tally, results.length, steps, failing.length)
  console.log(`digest ${digest.digest('hex')}`)
  const missing = missingSituations(tally, results.length)
  if (missing.length > 0)
    console.log(`\nin ${results.length} histories this never happened: ${missing.join('; ')}`)
  // Last: it is what a report of many checks repeats.
  if (failing.length > 0)
    console.log(`\nof ${results.length} histories these fail: ${failing.join(', ')}`)
  return failing.length > 0 || missing.length > 0 ? 1 : 0
}

/** The story of a failure comes at the end, with the others. */
function reportProgress({ seed, failure }: SeedResult) {
  if (failure !== undefined) console.log(`seed ${seed} fails (failure ${++progress.failures})`)
  if (++progress.done % 100 === 0)
    console.log(`${progress.done} done, ${progress.failures} failures so far`)
}
