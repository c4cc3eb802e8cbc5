import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions, runCommand, UsageError, wholeNumber } from '../../infra/local/terminal/command-line.ts'
import { mutantsOf, withMutant } from '../mutants/generate-mutants.ts'
import { PROJECT_ROOT, sourcesIn } from '../support/source-file.ts'
import { buildChecker, hasGo, judgeHistory, type Verdict } from './history-record.ts'
import { runHistory } from './run-history.ts'

/**
 * Goal: what callers see of the gateway is as if each call happened at one moment between its beginning and its answer,
 * whatever kills the process in between. Method: many callers by HTTP on the gateway as `npm start` runs it, SIGKILL at
 * random moments, and Porcupine, an independent tool, to judge what they saw.
 */

const USAGE = `npm run histories [-- --seed N] [--count N] [--seconds N] [--mutant TEXT]

Runs the gateway as npm start does, with callers side by side by HTTP and a SIGKILL every few seconds, and has what they
saw judged for linearizability by Porcupine: by key, by payment, and by client's balance. Needs Go and, the first time,
the Go module proxy; skipped where there is no Go. Everything else stays on this machine.
  --seed N       draws what is done and when it is killed (default 1); how calls meet is the machine's to say
  --count N      so many histories, each of the next seed (default 3)
  --seconds N    how long the gateway of each runs under its callers (default 25)
  --mutant TEXT  against a copy that is broken by the one mutant with this text in its id (npm run mutants -- --list)
  --help, -h     this text
Exit code: 0 linearizable, or skipped, 1 refuted or not decided, 2 called wrongly.`

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  count: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '25' },
  mutant: { type: 'string' },
} as const

/** One defect may refute every partition there is. */
const MOST_TOLD = 5

const numberOf = (text: string, most: number): number => {
  const number = wholeNumber(text)
  if (number === undefined || number < 1 || number > most) throw new UsageError(`a number from 1 to ${most} is needed`)
  return number
}

/** The project broken as the mutant says, or as it is. */
const openTree = (text: string | undefined) => {
  if (text === undefined) return { tree: undefined, remove: () => undefined }
  const found = sourcesIn('shared', 'functions').flatMap((file) =>
    mutantsOf(file)
      .filter(({ id }) => id.includes(text))
      .map((mutant) => ({ mutant, broken: withMutant(file.text, mutant) })),
  )
  const [only, ...others] = found
  if (!only || others.length > 0) throw new UsageError(`${found.length} mutants have "${text}" in their id, not one`)
  const { directory, remove } = copyProject()
  writeFileSync(join(directory, only.mutant.path), only.broken)
  console.log(`Broken on purpose: ${only.mutant.id}.`)
  return { tree: directory, remove }
}

const tell = (verdicts: readonly Verdict[]): boolean => {
  for (const { model, partitions, operations, open_ended, refuted, undecided } of verdicts) {
    const said = refuted.length > 0 ? 'REFUTED' : undecided.length > 0 ? 'NOT DECIDED' : 'linearizable'
    console.log(
      `  ${model.padEnd(9)} ${partitions} of them, ${operations} operations, ${open_ended} without an answer: ${said}`,
    )
    for (const { partition, page } of refuted.slice(0, MOST_TOLD))
      console.log(`    ${partition}: open ${page} in a browser`)
    if (refuted.length > MOST_TOLD) console.log(`    and ${refuted.length - MOST_TOLD} more beside them`)
    for (const partition of undecided) console.log(`    ${partition}: no order was found, or refuted, in a minute`)
  }
  return verdicts.every(({ refuted, undecided }) => refuted.length + undecided.length === 0)
}

const histories = async (argv: readonly string[]): Promise<number> => {
  const { mutant, ...options } = readOptions(argv, OPTIONS)
  const first = numberOf(options.seed, 2 ** 31)
  const count = numberOf(options.count, 1_000)
  const seconds = numberOf(options.seconds, 600)
  if (!(await hasGo())) {
    console.log('skipped: there is no Go on this machine, which Porcupine needs')
    return 0
  }
  const directory = mkdtempSync(join(tmpdir(), 'gateway-histories-'))
  const { tree, remove } = openTree(mutant)
  try {
    const checker = await buildChecker(directory)
    let kept = false
    for (let seed = first; seed < first + count; seed++) {
      const startedMs = performance.now()
      const { records, kills } = await runHistory({ seed, seconds, tree })
      const took = Math.round((performance.now() - startedMs) / 1_000)
      console.log(`seed ${seed}: ${records.length} calls, killed and started again ${kills} times, ${took} s`)
      const history = join(directory, String(seed))
      const holds = tell(await judgeHistory(checker, records, history))
      if (holds) rmSync(history, { recursive: true })
      else console.log(`    the history: ${join(history, 'history.jsonl')}`)
      kept ||= !holds
    }
    if (!kept) rmSync(directory, { recursive: true })
    return kept ? 1 : 0
  } finally {
    remove()
  }
}

// So that what was started is ended with us.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
process.exitCode = await runCommand(USAGE, process.argv.slice(2), histories)

const COPIED = [
  'functions',
  'infra',
  'shared',
  'test',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vitest.config.ts',
]

/** The project in a temporary directory, so that breaking it changes no file of the tree. */
const copyProject = (): { readonly directory: string; readonly remove: () => void } => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-copy-'))
  for (const name of COPIED) cpSync(join(PROJECT_ROOT, name), join(directory, name), { recursive: true })
  // Package by package, so that what tools write beside the packages lands in the copy.
  const packages = join(PROJECT_ROOT, 'node_modules')
  mkdirSync(join(directory, 'node_modules'))
  for (const name of readdirSync(packages).filter((entry) => !entry.startsWith('.') || entry === '.bin')) {
    symlinkSync(join(packages, name), join(directory, 'node_modules', name))
  }
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
