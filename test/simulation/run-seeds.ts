import { join } from 'node:path'
import { type HistoryResult, runHistory } from './histories/history.ts'
import { loadFunctions } from './world/environments.ts'
import { runForked } from './world/fork-pool.ts'

const USUAL_OPERATIONS = 36
/** A few long histories meet what grows: lists, windows, and sums that are read in steps. */
const LONG_OPERATIONS = 180
const LONG_EVERY = 25

const operationsOf = (seed: number): number => (seed % LONG_EVERY === 0 ? LONG_OPERATIONS : USUAL_OPERATIONS)

export type Run = (seed: number, operations?: number, tracing?: boolean) => Promise<HistoryResult>

export const loadRun = async (): Promise<Run> => {
  const functions = await loadFunctions()
  return (seed, operations = operationsOf(seed), tracing = false) =>
    runHistory({ seed, operations, functions, tracing })
}

/** `operations`: of each history, if not as many as usual. */
export type SeedTask = { readonly seed: number; readonly operations?: number | undefined }

export type SeedResult = Pick<HistoryResult, 'seed' | 'steps' | 'tally' | 'digest'> & {
  /** The story of the shortest prefix that fails, its problems and the command that replays it. */
  readonly failure?: string
}

/** The shortest prefix of a failing history that still fails: what happens after it is not needed to understand it. */
const shortest = async (run: Run, { seed, operations = operationsOf(seed) }: SeedTask): Promise<number> => {
  let low = 0
  let high = operations
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((await run(seed, middle)).problems.length > 0) high = middle
    else low = middle + 1
  }
  return high
}

const failureOf = async (run: Run, task: SeedTask): Promise<string> => {
  const { seed } = task
  const prefix = await shortest(run, task)
  const { story, problems } = await run(seed, prefix, true)
  return [
    ...story,
    `\nseed ${seed} fails, the shortest prefix has ${prefix} operations:`,
    ...problems.slice(0, 20).map((problem) => `  - ${problem}`),
    `replay: npm run sim -- --seed ${seed} --steps ${prefix} --trace`,
  ].join('\n')
}

export const runSeed = async (run: Run, task: SeedTask): Promise<SeedResult> => {
  const { seed, steps, tally, digest, problems } = await run(task.seed, task.operations)
  const result = { seed, steps, tally, digest }
  return problems.length === 0 ? result : { ...result, failure: await failureOf(run, task) }
}

const WORKER = join(import.meta.dirname, 'seed-worker.ts')

type Seeds = { readonly from: number; readonly to: number; readonly jobs: number } & Omit<SeedTask, 'seed'>

/** Long histories come first, so that no process runs one alone at the end. */
const inOrderOfWork = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at).toSorted((a, b) => operationsOf(b) - operationsOf(a))

/** Runs seeds in `jobs` processes. The results are in the order of the seeds, whichever process was first. */
export const runSeeds = async (
  { from, to, jobs, operations }: Seeds,
  onResult: (result: SeedResult) => void = () => undefined,
): Promise<readonly SeedResult[]> => {
  const results: SeedResult[] = []
  const tasks = inOrderOfWork(from, to).map((seed): SeedTask => ({ seed, operations }))
  await runForked(WORKER, tasks, jobs, (answered) => {
    const result = answered as SeedResult
    results.push(result)
    onResult(result)
  })
  return results.toSorted((a, b) => a.seed - b.seed)
}
