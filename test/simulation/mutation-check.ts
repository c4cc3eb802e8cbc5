/**
 * Goal: show that the tests hold what they claim to. Method: break one condition, lease, retry or comparison of the
 * gateway at a time, in a copy of the project, and see whether some test notices (`npm run mutants`).
 */
import { readOptions, runCommand, UsageError, wholeNumber } from '../../infra/local/terminal/command-line.ts'
import { MUTANTS } from './mutants/mutants.ts'
import { unseenBy } from './mutants/unseen/unseen.ts'
import { checkMutants, type Finding } from './mutation/check-mutants.ts'
import { byHistories, type Mutant } from './mutation/mutant.ts'
import { endRunning } from './mutation/run-checks.ts'

/** So many of those that guard money, tenancy or delivery by themselves must die by random histories. */
const LEAST_SHARE = 0.85

const USAGE = `npm run mutants -- [--only TEXT] [--jobs 1|2] [--histories [--promised]] [--seeds N]
  --only TEXT   only mutants with this text in their name or the name of their code
  --jobs N      how many at once, each in a copy of its own (default 2)
  --histories   each mutant meets the simulation's random histories instead of its own tests; which seed killed
                it is said. It fails when one lives that the list says must die by them, or, of the whole list,
                more than ${Math.round((1 - LEAST_SHARE) * 100)} in a hundred of those that guard money, tenancy or delivery by themselves
  --promised    only those that the list says must die by them
  --seeds N     how many histories a mutant meets at most (default 40, with --histories 300, with --promised 100)
  --help, -h    this text
Exit code: 0 every mutant is killed that must be, 1 one is not, 2 called wrongly.`

const OPTIONS = {
  only: { type: 'string' },
  jobs: { type: 'string', default: '2' },
  histories: { type: 'boolean', default: false },
  promised: { type: 'boolean', default: false },
  seeds: { type: 'string' },
} as const

const defaultSeeds = ({ histories, promised }: { readonly histories: boolean; readonly promised: boolean }): string => {
  if (promised) return '100'
  return histories ? '300' : '40'
}

const chosenBy = (argv: readonly string[]) => {
  const {
    only = '',
    jobs,
    histories,
    promised,
    seeds = defaultSeeds({ histories, promised }),
  } = readOptions(argv, OPTIONS)
  if (jobs !== '1' && jobs !== '2') throw new UsageError('--jobs takes 1 or 2')
  if (promised && !histories) throw new UsageError('--promised goes with --histories')
  const count = wholeNumber(seeds)
  if (count === undefined || count === 0) throw new UsageError('--seeds takes a whole number')
  const named = MUTANTS.filter(({ name, symbol }) => name.includes(only) || symbol.includes(only))
  const chosen = promised ? named.filter(({ diesWithin }) => diesWithin !== undefined) : named
  if (chosen.length === 0) throw new UsageError(`no such mutant has "${only}" in its name or the name of its code`)
  return {
    mutants: histories ? chosen.map((mutant) => byHistories(mutant, unseenBy)) : chosen,
    jobs: Number(jobs),
    histories,
    seeds: count,
  }
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

/** The list says that this many histories notice it. */
const isPromised = ({ diesWithin }: Mutant, seeds: number) => diesWithin !== undefined && diesWithin <= seeds

/** The first seed whose history has noticed; 0 where something else has. */
const killingSeed = (verdict: Finding['verdict']): number =>
  verdict.kind === 'failed' ? Number(/seed (\d+):/.exec(verdict.by)?.[1] ?? 0) : 0

const medianSeed = (killed: readonly Finding[]): number =>
  killed.map(({ verdict }) => killingSeed(verdict)).toSorted((a, b) => a - b)[Math.floor(killed.length / 2)] ?? 0

/** Of those that nothing else stands in for: how many die, and by which seed. */
const tellShare = (findings: readonly Finding[]): boolean => {
  const counted = findings.filter(({ mutant }) => mutant.unseen === undefined)
  const killed = counted.filter(({ verdict }) => verdict.kind === 'failed')
  const share = killed.length / Math.max(counted.length, 1)
  console.log(
    `${killed.length} of ${counted.length} that guard money, tenancy or delivery by themselves die by histories ` +
      `(${(share * 100).toFixed(1)} %), by seed ${medianSeed(killed)} at the median`,
  )
  return counted.length === 0 || share >= LEAST_SHARE
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
  const { mutants, jobs, histories, seeds } = chosenBy(argv)
  const startedMs = performance.now()
  const signal = stoppedBySignals()
  const findings = await checkMutants(mutants, { jobs, seeds, signal, onFinding: tell })

  const killed = findings.filter(({ verdict }) => verdict.kind === 'failed')
  const survivors = findings.filter(({ verdict }) => verdict.kind !== 'failed')
  const unlisted = survivors.filter(
    ({ mutant, verdict }) => verdict.kind === 'broken' || (histories ? isPromised(mutant, seeds) : !mutant.equivalent),
  )
  const noticed = killed.filter(({ mutant }) => mutant.equivalent !== undefined)

  console.log('')
  for (const survivor of survivors) {
    const { equivalent, unseen = equivalent ?? 'nobody notices it' } = survivor.mutant
    console.log(`survivor: ${placeOf(survivor)}\n  ${unseen}`)
  }
  for (const finding of noticed) console.log(`listed as a survivor, yet killed: ${placeOf(finding)}`)
  const late = killed.filter(({ mutant, verdict }) => killingSeed(verdict) > (mutant.diesWithin ?? seeds))
  for (const finding of late) console.log(`killed later than the list says: ${placeOf(finding)}`)
  const hasShare = !histories || tellShare(findings)
  const isEnough = hasShare || findings.length < MUTANTS.length
  console.log(
    `${killed.length} of ${findings.length} mutants killed, in ${seconds(performance.now() - startedMs).trim()}`,
  )
  return signal.aborted || !isEnough || unlisted.length + noticed.length + late.length > 0 ? 1 : 0
}

process.exitCode = await runCommand(USAGE, process.argv.slice(2), check)
