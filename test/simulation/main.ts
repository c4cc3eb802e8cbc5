import { readOptions, runCommand, UsageError, wholeNumber } from '../../infra/local/terminal/command-line.ts'
import { type HistoryResult, operationsOf, runHistory } from './histories/history.ts'
import { missingSituations } from './sometimes/meet.ts'
import { loadFunctions } from './world/handlers.ts'
import { addTally, type Tally } from './world/tally.ts'

const USAGE = `npm run sim -- --seed N [--steps M] [--trace]     replays one history
npm run sim -- --seeds A..B [--steps M]           runs many
  --steps M   operations of merchants, customers and operators in each history (default 60; of every 25th seed 300)
  --trace     tells everything that happened
  --help, -h  this text
Exit code: 0 every history held, 1 one failed, 2 called wrongly.`

const integer = (text: string | undefined, name: string): number => {
  const value = wholeNumber(text ?? '') ?? -1
  if (value < 0)
    throw new UsageError(`--${name} takes ${name === 'seeds' ? 'two whole numbers: 1..100' : 'a whole number'}`)
  return value
}

const rangeOf = (text: string): readonly [number, number] => {
  const [from, to] = text.split('..')
  return [integer(from, 'seeds'), integer(to, 'seeds')]
}

type Run = (seed: number, operations?: number, tracing?: boolean) => Promise<HistoryResult>

const loadRun = async (): Promise<Run> => {
  const functions = await loadFunctions()
  return (seed, operations = operationsOf(seed), tracing = false) =>
    runHistory({ seed, operations, functions, tracing })
}

/** The shortest prefix of a failing history that still fails: what happened behind it is not needed to understand it. */
const shortest = async (run: Run, failing: HistoryResult, operations = operationsOf(failing.seed)): Promise<number> => {
  let low = 0
  let high = operations
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((await run(failing.seed, middle)).problems.length > 0) high = middle
    else low = middle + 1
  }
  return high
}

const report = async (run: Run, failing: HistoryResult, operations: number | undefined) => {
  const prefix = await shortest(run, failing, operations)
  const { story, problems } = await run(failing.seed, prefix, true)
  console.log(story.join('\n'))
  console.log(`\nseed ${failing.seed} fails, the shortest prefix has ${prefix} operations:`)
  for (const problem of problems.slice(0, 20)) console.log(`  - ${problem}`)
  console.log(`replay: npm run sim -- --seed ${failing.seed} --steps ${prefix} --trace`)
}

const figures = (tally: Tally, histories: number, steps: number, failures: number) => {
  console.log(`\n${histories} histories, ${steps} steps, ${failures} failures`)
  for (const [what, times] of [...tally].toSorted(([a], [b]) => a.localeCompare(b))) console.log(`  ${what}: ${times}`)
}

const OPTIONS = {
  seed: { type: 'string' },
  seeds: { type: 'string' },
  steps: { type: 'string' },
  trace: { type: 'boolean', default: false },
} as const

const replay = async (run: Run, seed: number, operations: number | undefined, tracing: boolean) => {
  const { story, tally, steps, problems, digest } = await run(seed, operations, tracing)
  if (tracing) console.log(story.join('\n'))
  figures(tally, 1, steps, problems.length > 0 ? 1 : 0)
  console.log(`digest ${digest}`)
  for (const problem of problems) console.log(`  - ${problem}`)
  return problems.length > 0 ? 1 : 0
}

const runMany = async (run: Run, [from, to]: readonly [number, number], operations: number | undefined) => {
  const tally: Tally = new Map()
  const failing: number[] = []
  let steps = 0
  for (let seed = from; seed <= to; seed++) {
    const result = await run(seed, operations)
    steps += result.steps
    addTally(tally, result.tally)
    if (result.problems.length > 0) {
      failing.push(seed)
      await report(run, result, operations)
    }
    if (seed % 100 === 0) console.log(`seed ${seed}: ${failing.length} failures so far`)
  }
  const histories = to - from + 1
  figures(tally, histories, steps, failing.length)
  const missing = missingSituations(tally, histories)
  if (missing.length > 0) console.log(`\nin ${histories} histories this never happened: ${missing.join('; ')}`)
  // Last: it is what a report of many checks repeats.
  if (failing.length > 0) console.log(`\nof ${histories} histories these fail: ${failing.join(', ')}`)
  return failing.length > 0 || missing.length > 0 ? 1 : 0
}

process.exitCode = await runCommand(USAGE, process.argv.slice(2), async (argv) => {
  const { seed, seeds = '1..100', steps, trace } = readOptions(argv, OPTIONS)
  const operations = steps === undefined ? undefined : integer(steps, 'steps')
  const which = seed === undefined ? rangeOf(seeds) : integer(seed, 'seed')
  const run = await loadRun()
  return typeof which === 'number' ? replay(run, which, operations, trace) : runMany(run, which, operations)
})
