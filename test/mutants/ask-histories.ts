/**
 * One process that runs random histories of the simulation, up to the first that fails, on the gateway with one file
 * replaced. It takes one question: what is loaded once stays as it is.
 */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { operationsOf } from '../simulation/histories/operations-of.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import type { Ask, CheckResult, Said } from './asking.ts'
import { takeHits } from './hits.ts'

const isRecording = process.argv.includes('--record')

const say = (said: Said): void => void process.send?.(said)

const replace = ({ path, text }: NonNullable<Ask['replaced']>): void => {
  const broken = pathToFileURL(join(PROJECT_ROOT, path)).href
  registerHooks({
    load: (url, context, next) =>
      url === broken ? { format: 'module-typescript', source: text, shortCircuit: true } : next(url, context),
  })
}

const load = async () => {
  const { loadFunctions } = await import('../simulation/world/environments.ts')
  const { runHistory } = await import('../simulation/histories/history.ts')
  const functions = await loadFunctions()
  return (seed: number) => runHistory({ seed, operations: operationsOf(seed), functions })
}

type Run = Awaited<ReturnType<typeof load>>

const runSeed = async (run: Run, name: string): Promise<CheckResult> => {
  const startedMs = performance.now()
  const { problems } = await run(Number(name)).catch((error: unknown) => ({ problems: [String(error)] }))
  const ms = Math.round(performance.now() - startedMs)
  return { name, ms, failed: problems[0], hits: isRecording ? takeHits() : [] }
}

const answer = async ({ checks, replaced }: Ask): Promise<void> => {
  if (replaced) replace(replaced)
  const run = await load().catch((error: unknown) => String(error))
  if (isRecording) takeHits()
  for (const name of checks) {
    const ended = typeof run === 'string' ? { name, ms: 0, unloaded: run, hits: [] } : await runSeed(run, name)
    say({ ended })
    if (ended.failed !== undefined || ended.unloaded !== undefined) break
  }
  say({ done: true })
}

process.on('message', (ask: Ask) => void answer(ask))
say({ ready: true })
