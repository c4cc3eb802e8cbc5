/**
 * Goal: show that the tests hold what they claim to. Method: break one condition, lease, retry or comparison of the
 * gateway at a time, in a copy of the project, and see whether some test notices (`npm run mutants`).
 */
import { readOptions, runCommand, UsageError } from '../../infra/local/terminal/command-line.ts'
import { MUTANTS } from './mutants.ts'
import { checkMutants, type Finding } from './mutation/check-mutants.ts'
import { byHistories } from './mutation/mutant.ts'
import { endRunning } from './mutation/run-checks.ts'

const USAGE = `npm run mutants -- [--only TEXT] [--jobs 1|2] [--histories]
  --only TEXT   only mutants with this text in their name or the name of their code
  --jobs N      how many at once, each in a copy of its own (default 2)
  --histories   each mutant meets the simulation's random histories instead of its own tests
  --help, -h    this text
Exit code: 0 every mutant is killed that is not listed as equivalent, 1 one is not, 2 called wrongly.`

const OPTIONS = {
  only: { type: 'string' },
  jobs: { type: 'string', default: '2' },
  histories: { type: 'boolean', default: false },
} as const

const chosenBy = (argv: readonly string[]) => {
  const { only = '', jobs, histories } = readOptions(argv, OPTIONS)
  if (jobs !== '1' && jobs !== '2') throw new UsageError('--jobs takes 1 or 2')
  const named = MUTANTS.filter(({ name, symbol }) => name.includes(only) || symbol.includes(only))
  if (named.length === 0) throw new UsageError(`no mutant has "${only}" in its name or the name of its code`)
  return { mutants: histories ? named.map(byHistories) : named, jobs: Number(jobs) }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`.padStart(8)

const placeOf = ({ mutant, path }: Finding) => `${mutant.name} (${mutant.symbol} in ${path})`

const tell = (finding: Finding) => {
  const { verdict, ms } = finding
  const where = placeOf(finding)
  switch (verdict.kind) {
    case 'failed':
      return console.log(`killed    ${seconds(ms)}  ${where}\n                      by ${verdict.by}`)
    case 'held':
      return console.log(`SURVIVED  ${seconds(ms)}  ${where}`)
    case 'broken':
      return console.log(`UNPROVEN  ${seconds(ms)}  ${where}\n${verdict.why}`)
  }
}

const stoppedBySignals = (): AbortSignal => {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stop.abort()
      endRunning()
      process.exitCode = 1
    })
  }
  return stop.signal
}

const check = async (argv: readonly string[]): Promise<number> => {
  const { mutants, jobs } = chosenBy(argv)
  const startedMs = performance.now()
  const signal = stoppedBySignals()
  const findings = await checkMutants(mutants, { jobs, signal, onFinding: tell })

  const killed = findings.filter(({ verdict }) => verdict.kind === 'failed')
  const survivors = findings.filter(({ verdict }) => verdict.kind !== 'failed')
  const unlisted = survivors.filter(
    ({ mutant, verdict }) => verdict.kind === 'broken' || mutant.equivalent === undefined,
  )
  const noticed = killed.filter(({ mutant }) => mutant.equivalent !== undefined)

  console.log('')
  for (const survivor of survivors) {
    console.log(`survivor: ${placeOf(survivor)}\n  ${survivor.mutant.equivalent ?? 'no test notices it'}`)
  }
  for (const finding of noticed) console.log(`listed as a survivor, yet killed: ${placeOf(finding)}`)
  console.log(
    `${killed.length} of ${findings.length} mutants killed, in ${seconds(performance.now() - startedMs).trim()}`,
  )
  return signal.aborted || unlisted.length > 0 || noticed.length > 0 ? 1 : 0
}

process.exitCode = await runCommand(USAGE, process.argv.slice(2), check)
