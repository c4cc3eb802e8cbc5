/**
 * Goal: show that the tests notice broken code. Method: break the code that guards money, tenancy,
 * delivery and secrets in one place after another, and see which layer of the tests notices first.
 */
import {
  readOptions,
  runProgram,
  UsageError,
  wholeNumber,
} from '../../infra/local/terminal/command-line.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { projectText, sourcesIn } from '../support/source-file.ts'
import { type Asker, endAll, openAsker } from './asking.ts'
import { type Check, checksReaching, knownChecks, LAYERS, layerOf } from './checks.ts'
import { EXCEPTIONS } from './exceptions.ts'
import { chosenFrom, MOST, type Mutant, mutantsOf, withMutant } from './generate-mutants.ts'
import { AREAS } from './guarded-code.ts'

const USAGE = `npm run mutants -- [--only TEXT] [--sample N] [--list]

Breaks the gateway in at most ${MOST} places, one at a time and only in memory. Then it runs unit, function and
integration tests, the most promising first, and random histories, up to the first failure.
  --only TEXT  all mutants with this text in their id
  --sample N   every Nth of them
  --list       lists the mutants, and runs no test
  --help, -h   this text
Exit code: 0 every mutant died, except the listed exceptions; 1 otherwise; 2 wrong arguments.`

const JOBS = 2

type Finding = {
  readonly mutant: Mutant
  readonly ms: number
  readonly killer?: { readonly check: string; readonly failed: string }
  /**
   * Why the mutant cannot be loaded: its change is no program, so it says nothing about the tests.
   */
  readonly invalid?: string
}

await runProgram(USAGE, async (argv) => {
  const chosen = chosenBy(argv)
  if (!chosen.list) return conclude(await askAll(chosen))
  for (const mutant of chosen.mutants) console.log(`${mutant.id}\n  ${codeOf(mutant)}`)
  return 0
})

function chosenBy(argv: readonly string[]) {
  const { only, sample, list } = readOptions(argv, {
    only: { type: 'string' },
    sample: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
  })
  const every = wholeNumber(sample) ?? 0
  if (every < 1) throw new UsageError('--sample takes a whole number above zero')
  const files = sourcesIn('shared', 'functions')
  const all = files.flatMap(mutantsOf)
  const named = only === undefined ? chosenFrom(all) : all.filter(({ id }) => id.includes(only))
  if (named.length === 0) throw new UsageError(`no mutant has "${only}" in its id`)
  return { files, mutants: named.filter((_, at) => at % every === 0), list }
}

function conclude(findings: readonly Finding[]) {
  const survivors = findings.filter(survived)
  const open = survivors.filter(({ mutant }) => !EXCEPTIONS.has(mutant.id))
  const killed = findings.filter(
    (finding) => EXCEPTIONS.has(finding.mutant.id) && !survived(finding),
  )
  console.log(`\n${reportOf(findings)}`)
  for (const { mutant } of open) console.log(`\nsurvivor: ${mutant.id}\n  ${codeOf(mutant)}`)
  for (const { mutant } of killed) console.log(`\nan exception, yet killed: ${mutant.id}`)
  console.log(
    `\n${findings.length} mutants asked about, ${survivors.length} survived, ${survivors.length - open.length} of them are exceptions`,
  )
  return open.length + killed.length > 0 ? 1 : 0
}

function survived({ invalid, killer }: Finding) {
  return invalid === undefined && killer === undefined
}

function reportOf(findings: readonly Finding[]) {
  const rows = AREAS.map((area) => [
    area,
    ...cellsOf(findings.filter(({ mutant }) => mutant.area === area)),
  ])
  return markdownTable(
    ['Guards', 'mutants', ...LAYERS, 'survived', 'invalid'],
    [...rows, ['all', ...cellsOf(findings)]],
  )
}

function cellsOf(some: readonly Finding[]) {
  return [
    some.length,
    ...LAYERS.map(
      (layer) => some.filter(({ killer }) => killer && layerOf(killer.check) === layer).length,
    ),
    some.filter(survived).length,
    some.filter(({ invalid }) => invalid !== undefined).length,
  ]
}

function codeOf({ path, start, end, by, line }: Mutant) {
  const [was, is] = [projectText(path).slice(start, end), by].map((code) =>
    code.replaceAll(/\s+/g, ' '),
  )
  return `${path}:${line}\n    ${was}\n -> ${is || 'nothing'}`
}

/** Mutants listed as exceptions come last, because every check runs on them. */
async function askAll({ files, mutants }: ReturnType<typeof chosenBy>) {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      endAll()
      process.exit(1)
    })
  }
  const findings: Finding[] = []
  const noticing = (path: string) =>
    new Set(
      findings.flatMap(({ mutant, killer }) =>
        killer && mutant.path === path ? [killer.check] : [],
      ),
    )
  const reaching = checksReaching(await knownChecks(), files, noticing)
  const waiting = mutants.toSorted(
    (a, b) => Number(EXCEPTIONS.has(a.id)) - Number(EXCEPTIONS.has(b.id)),
  )
  const work = async () => {
    const asker = openAsker()
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const finding = await askMutant(asker, mutant, reaching(mutant))
      findings.push(finding)
      report(finding)
    }
    asker.end()
  }
  await Promise.all(Array.from({ length: JOBS }, work))
  return findings
}

async function askMutant(asker: Asker, mutant: Mutant, checks: readonly Check[]) {
  const startedMs = performance.now()
  const times = new Map(checks.map(({ name, ms }) => [name, ms]))
  const replaced = { path: mutant.path, text: withMutant(projectText(mutant.path), mutant) }
  // Far above what a check takes on a busy machine: a mutant may loop for ever.
  const boundMsOf = (name: string) => 30_000 + 10 * (times.get(name) ?? 0)
  const results = await asker.ask({ checks: [...times.keys()], replaced }, boundMsOf)
  const asked = { mutant, ms: performance.now() - startedMs }
  const ended = results.find(({ failed, unloaded }) => failed ?? unloaded)
  if (ended?.unloaded !== undefined) return { ...asked, invalid: ended.unloaded }
  return ended ? { ...asked, killer: { check: ended.name, failed: ended.failed ?? '' } } : asked
}

function report({ mutant: { id }, invalid, ms, killer }: Finding) {
  const outcome = invalid === undefined ? (killer ? layerOf(killer.check) : 'SURVIVED') : 'invalid'
  console.log(`${outcome.padEnd(11)}  ${`${(ms / 1_000).toFixed(1)} s`.padStart(8)}  ${id}`)
  const why = invalid ?? (killer && `${killer.check}: ${killer.failed}`)
  if (why !== undefined) console.log(`                        ${why.split('\n', 1).join()}`)
}
