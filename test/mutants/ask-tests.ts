/**
 * A process that runs test files up to the first failure, each time with another file replaced in
 * memory.
 */
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { createVitest, type TestModule } from 'vitest/node'
import { PROJECT_ROOT } from '../support/source-file.ts'
import type { Ask, CheckResult, Said } from './asking.ts'

const isRecording = process.argv.includes('--record')

let replaced: Ask['replaced']

const vitest = await createVitest(
  'test',
  {
    root: PROJECT_ROOT,
    watch: false,
    reporters: [{ onTestModuleEnd: (module) => say({ ended: resultOf(module) }) }],
    maxWorkers: 1,
    bail: isRecording ? 0 : 1,
    // A cache on the disk would keep the mutant for other runs.
    fsModuleCache: false,
    setupFiles: isRecording ? [join(import.meta.dirname, 'record-hits.ts')] : [],
    // The files run in the order in which they are asked.
    sequence: {
      sequencer: class {
        readonly sort = <T>(files: T) => files
        readonly shard = <T>(files: T) => files
      },
    },
  },
  {
    plugins: [
      {
        name: 'mutant',
        enforce: 'pre',
        load: (id) =>
          replaced && id === join(PROJECT_ROOT, replaced.path) ? replaced.text : undefined,
      },
    ],
  },
)

process.on('message', (ask: Ask) => void answer(ask))
say({ ready: true })

function say(said: Said) {
  void process.send?.(said)
}

function resultOf(module: TestModule): CheckResult {
  const tests = [...module.children.allTests()]
  const failed = tests.find((test) => test.result().state === 'failed')
  const error = module.errors()[0] && stripVTControlCharacters(module.errors()[0]?.message ?? '')
  const { duration, collectDuration } = module.diagnostic()
  const { hits = [] } = module.meta() as { readonly hits?: readonly string[] }
  return {
    name: module.moduleId.slice(PROJECT_ROOT.length + 1),
    ms: Math.round(duration + collectDuration),
    failed: failed?.fullName ?? (tests.length > 0 ? error : undefined),
    unloaded: tests.length > 0 ? undefined : error,
    hits,
  }
}

async function answer(ask: Ask) {
  const changed = [replaced, ask.replaced].flatMap((file) =>
    file ? [join(PROJECT_ROOT, file.path)] : [],
  )
  replaced = ask.replaced
  for (const path of changed) vitest.invalidateFile(path)
  const project = vitest.getRootProject()
  const files = ask.checks.map((file) => project.createSpecification(join(PROJECT_ROOT, file)))
  const { unhandledErrors } = await vitest.runTestSpecifications(files)
  for (const error of unhandledErrors) {
    const { VITEST_TEST_PATH: path } = error as { readonly VITEST_TEST_PATH?: string }
    const name = path?.slice(PROJECT_ROOT.length + 1) ?? ask.checks.at(-1) ?? ''
    say({ ended: { name, ms: 0, failed: String(error), hits: [] } })
  }
  say({ done: true })
}
