import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { PROBLEM_FOUND } from './exit-codes.ts'

/** What a set of checks says about the tree it ran on. */
export type Verdict =
  | { readonly kind: 'held' }
  | { readonly kind: 'failed'; readonly by: string }
  /** Not a test that failed but something that could not run at all: it proves nothing. */
  | { readonly kind: 'broken'; readonly why: string }

export type Checks = {
  readonly tests: readonly string[]
  /** How many random histories, from seed 1; 0: none. */
  readonly seeds: number
  readonly crashes: readonly string[]
  /** A mutant may loop for ever: no command may take longer. */
  readonly boundMs: number
}

type Ended = { readonly code: number | null; readonly output: string; readonly outOfTime: boolean }

const running = new Set<ChildProcess>()

/** Ends whatever runs, with everything it has started. */
export const endRunning = (): void => {
  for (const { pid } of running) if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

const runNode = (directory: string, args: readonly string[], boundMs: number): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: directory,
      // A process group of its own, which can be ended as a whole.
      detached: true,
      // All but the mutant's own file is compiled once: a third of what it takes to notice most of them.
      env: { ...process.env, NODE_COMPILE_CACHE: join(directory, 'compiled') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    let output = ''
    let outOfTime = false
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
    const timer = setTimeout(() => {
      outOfTime = true
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, boundMs)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      running.delete(child)
      resolve({ code, output: signal === null ? output : `${output}\nended by ${signal}`, outOfTime })
    })
  })

const NO_END: Verdict = { kind: 'failed', by: 'never coming to an end' }

const ReportSchema = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      assertionResults: v.array(v.object({ status: v.string(), fullName: v.string() })),
    }),
  ),
})

const firstFailure = (reportPath: string): string | undefined => {
  if (!existsSync(reportPath)) return undefined
  const { testResults } = v.parse(ReportSchema, JSON.parse(readFileSync(reportPath, 'utf8')))
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed')
    ?.fullName.trim()
}

const lastLines = (output: string): string => output.trim().split('\n').slice(-6).join('\n')

const runTests = async (directory: string, { tests, boundMs }: Checks): Promise<Verdict> => {
  const reportPath = join(directory, 'report.json')
  rmSync(reportPath, { force: true })
  const files = tests.map((test) => `/${test}.test.ts`)
  const options = ['run', '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${reportPath}`]
  const args = ['node_modules/vitest/vitest.mjs', ...options, ...files]
  const { code, output, outOfTime } = await runNode(directory, args, boundMs)
  if (outOfTime) return NO_END
  if (code === 0) return { kind: 'held' }
  // A file that cannot even be loaded fails as well; only a test that ran and failed has noticed anything.
  const failure = firstFailure(reportPath)
  return failure === undefined ? { kind: 'broken', why: lastLines(output) } : { kind: 'failed', by: failure }
}

const runSimulation = async (directory: string, { seeds, crashes, boundMs }: Checks): Promise<Verdict> => {
  const args = [...(seeds > 0 ? ['--seeds', `1..${seeds}`] : []), ...crashes.flatMap((flow) => ['--crashes', flow])]
  const script = 'test/simulation/mutation/first-problem.ts'
  const { code, output, outOfTime } = await runNode(directory, [script, ...args], boundMs)
  if (outOfTime) return NO_END
  if (code === 0) return { kind: 'held' }
  return code === PROBLEM_FOUND
    ? { kind: 'failed', by: `the simulation: ${lastLines(output)}` }
    : { kind: 'broken', why: lastLines(output) }
}

/** Runs the tests, then the simulation, up to the first that fails. */
export const runChecks = async (directory: string, checks: Checks): Promise<Verdict> => {
  const tested = checks.tests.length > 0 ? await runTests(directory, checks) : { kind: 'held' as const }
  if (tested.kind !== 'held' || (checks.seeds === 0 && checks.crashes.length === 0)) return tested
  return runSimulation(directory, checks)
}
