import { join } from 'node:path'
import {
  type HistoryOptions,
  type HistoryResult,
  operationsOf,
  runHistory,
} from './histories/history.ts'
import { runForked } from './world/fork-pool.ts'

export type SeedTask = Pick<HistoryOptions, 'seed' | 'operations'>

export type SeedResult = Pick<HistoryResult, 'seed' | 'steps' | 'tally' | 'digest'> & {
  readonly failure?: string
}

const WORKER = join(import.meta.dirname, 'seed-worker.ts')

type Seeds = { readonly from: number; readonly to: number; readonly jobs: number } & Omit<
  SeedTask,
  'seed'
>

/** The results are in the order of the seeds, whichever process was first. */
export async function runSeeds(
  { from, to, jobs, operations }: Seeds,
  onResult: (result: SeedResult) => void = () => undefined,
) {
  const results: SeedResult[] = []
  const take = (result: SeedResult) => {
    results.push(result)
    onResult(result)
  }
  const seeds = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  // Long histories come first, so that no process runs one alone at the end.
  const inOrderOfWork = seeds.toSorted((a, b) => operationsOf(b) - operationsOf(a))
  await runForked(
    WORKER,
    inOrderOfWork.map((seed) => ({ seed, operations })),
    jobs,
    (result) => take(result as SeedResult),
    ({ seed }, reason) =>
      take({ seed, steps: 0, tally: new Map(), digest: '', failure: `seed ${seed}: ${reason}` }),
  )
  return results.toSorted((a, b) => a.seed - b.seed)
}

export async function runSeed(task: SeedTask, run = runHistory): Promise<SeedResult> {
  const { seed, steps, tally, digest, problems } = await run(task)
  const result = { seed, steps, tally, digest }
  return problems.length === 0 ? result : { ...result, failure: await failureOf(run, task) }
}

/**
 * The shortest prefix of a failing history that still fails: what happens after it is not needed to
 * understand it.
 */
async function failureOf(
  run: typeof runHistory,
  { seed, operations = operationsOf(seed) }: SeedTask,
) {
  let low = 0
  let high = operations
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((await run({ seed, operations: middle })).problems.length > 0) high = middle
    else low = middle + 1
  }
  const { story, problems } = await run({ seed, operations: high, tracing: true })
  return [
    ...story,
    `\nseed ${seed} fails, the shortest prefix has ${high} operations:`,
    ...problems.slice(0, 20).map((problem) => `  - ${problem}`),
    `replay: npm run sim -- --seed ${seed} --steps ${high} --trace`,
  ].join('\n')
}
