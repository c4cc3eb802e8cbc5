import { fork } from 'node:child_process'
import { join } from 'node:path'
import { operationsOf } from './histories/operations-of.ts'
import type { SeedResult, SeedTask } from './run-seed.ts'

const WORKER = join(import.meta.dirname, 'seed-worker.ts')

type Seeds = { readonly from: number; readonly to: number; readonly jobs: number } & Omit<SeedTask, 'seed'>

/** Long histories come first, so that no process runs one alone at the end. */
const inOrderOfWork = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at).toSorted((a, b) => operationsOf(b) - operationsOf(a))

/**
 * Runs seeds in `jobs` processes. The results are in the order of the seeds, whichever process was first. Rejects when a
 * process ends before it has sent its result, and then ends the others.
 */
export const runSeeds = async (
  { from, to, jobs, operations }: Seeds,
  onResult: (result: SeedResult) => void = () => undefined,
): Promise<readonly SeedResult[]> => {
  const waiting = inOrderOfWork(from, to)
  const results: SeedResult[] = []
  const stop = new AbortController()

  const work = () =>
    new Promise<void>((resolve, reject) => {
      // Maps of a tally go through structured clone, not through JSON.
      const child = fork(WORKER, { execArgv: [], serialization: 'advanced', signal: stop.signal })
      let seed: number | undefined
      const next = () => {
        seed = waiting.shift()
        if (seed === undefined) child.disconnect()
        else child.send({ seed, operations })
      }
      child.on('message', (message) => {
        const result = message as SeedResult
        results.push(result)
        onResult(result)
        next()
      })
      child.once('error', reject)
      child.once('exit', (code, signal) => {
        if (seed === undefined) resolve()
        else reject(new Error(`seed ${seed} ended its process (${signal ?? code}) before its result`))
      })
      next()
    })

  try {
    await Promise.all(Array.from({ length: Math.min(jobs, waiting.length) }, work))
  } finally {
    stop.abort()
  }
  return results.toSorted((a, b) => a.seed - b.seed)
}
