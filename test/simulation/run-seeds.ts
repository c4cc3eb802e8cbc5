import { join } from 'node:path'
import { operationsOf } from './histories/operations-of.ts'
import type { SeedResult, SeedTask } from './run-seed.ts'
import { runForked } from './world/fork-pool.ts'

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
