import { parseArgs } from 'node:util'
import { loadFunctions } from './handlers.ts'
import { type HistoryResult, runHistory } from './history.ts'
import { addTally, type Tally } from './tally.ts'

const USAGE = `npm run sim -- --seed N [--steps M] [--trace]     replays one history
npm run sim -- --seeds A..B [--steps M]           runs many
  --steps M   operations of merchants, customers and operators in each history (default 60)
  --trace     tells everything that happened`

const DEFAULT_OPERATIONS = 60

const integer = (text: string | undefined, name: string): number => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} takes a whole number\n\n${USAGE}`)
  return value
}

const rangeOf = (text: string): readonly [number, number] => {
  const [from, to] = text.split('..')
  return [integer(from, 'seeds'), integer(to, 'seeds')]
}

const functions = await loadFunctions()
const run = (seed: number, operations: number, tracing = false) => runHistory({ seed, operations, functions, tracing })

/** The shortest prefix of a failing history that still fails: what happened behind it is not needed to understand it. */
const shortest = async (failing: HistoryResult, operations: number): Promise<number> => {
  let low = 0
  let high = operations
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((await run(failing.seed, middle)).problems.length > 0) high = middle
    else low = middle + 1
  }
  return high
}

const report = async (failing: HistoryResult, operations: number) => {
  const prefix = await shortest(failing, operations)
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

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    steps: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
})
const operations = values.steps === undefined ? DEFAULT_OPERATIONS : integer(values.steps, 'steps')

if (values.seed !== undefined) {
  const result = await run(integer(values.seed, 'seed'), operations, values.trace)
  if (values.trace) console.log(result.story.join('\n'))
  figures(result.tally, 1, result.steps, result.problems.length > 0 ? 1 : 0)
  console.log(`digest ${result.digest}`)
  if (result.problems.length > 0) {
    for (const problem of result.problems) console.log(`  - ${problem}`)
    process.exitCode = 1
  }
} else {
  const [from, to] = rangeOf(values.seeds ?? '1..100')
  const tally: Tally = new Map()
  let steps = 0
  let failures = 0
  for (let seed = from; seed <= to; seed++) {
    const result = await run(seed, operations)
    steps += result.steps
    addTally(tally, result.tally)
    if (result.problems.length > 0) {
      failures++
      await report(result, operations)
      process.exitCode = 1
    }
    if (seed % 100 === 0) console.log(`seed ${seed}: ${failures} failures so far`)
  }
  figures(tally, to - from + 1, steps, failures)
}
