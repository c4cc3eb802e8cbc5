import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runCommand, UsageError } from '../../infra/local/terminal/command-line.ts'
import { deployedStage } from '../../infra/stack/stage.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { synthesised, synthesisedFront } from '../support/stack-template.ts'
import { withWritten } from '../written-part.ts'
import { costReport } from './cost-report.ts'
import { measureFlows } from './measure-flows.ts'
import { SUITES, type Suite } from './suites.ts'

const COSTS = 'docs/operations.md'
const FIGURES = 'docs/performance.md'
const PLOTS = 'docs/plots'

const HELP = `npm run bench -- [SUITE] [--write]

Measures the gateway. Without a suite: \`units\`, and what the gateway costs idle, in use and per million payments.
${Object.entries(SUITES)
  .map(([name, { does }]) => `  ${name.padEnd(12)} ${does}`)
  .join('\n')}
  --write      puts it into ${FIGURES} (costs: ${COSTS}) and its plots into ${PLOTS}, instead of printing it
  --help, -h   this text
Exit code: 0 done, 1 something is slower than it may be, 2 called wrongly.`

const put = (path: string, text: string, suite?: string): void => {
  const file = join(PROJECT_ROOT, path)
  writeFileSync(file, withWritten(readFileSync(file, 'utf8'), 'bench', text, suite))
}

const runSuite = async (name: string, { run, document = FIGURES }: Suite, write: boolean): Promise<number> => {
  const { text, plots = {}, failures = [] } = await run()
  for (const failure of failures) console.error(failure)
  const exitCode = failures.length > 0 ? 1 : 0
  if (!write) {
    console.log(text)
    return exitCode
  }
  put(document, text, name)
  for (const [plot, svg] of Object.entries(plots)) {
    mkdirSync(join(PROJECT_ROOT, PLOTS), { recursive: true })
    writeFileSync(join(PROJECT_ROOT, PLOTS, plot), svg)
  }
  return exitCode
}

const runCosts = async (write: boolean): Promise<void> => {
  const templates = { gateway: synthesised('prod'), front: synthesisedFront(deployedStage('prod')) }
  const text = costReport(templates, await measureFlows())
  if (write) put(COSTS, text)
  else console.log(text)
}

process.exitCode = await runCommand(HELP, process.argv.slice(2), async ([first = '', ...others]) => {
  const named = first !== '' && !first.startsWith('-')
  const { write = false } = readOptions(named ? others : [first, ...others].filter((one) => one !== ''), {
    write: { type: 'boolean' },
  } as const)
  const name = named ? first : 'units'
  const suite = SUITES[name]
  if (suite === undefined) throw new UsageError(`there is no suite ${name}`)
  const exitCode = await runSuite(name, suite, write)
  if (!named) await runCosts(write)
  return exitCode
})
