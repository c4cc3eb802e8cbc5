import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runCommand, UsageError } from '../../infra/local/terminal/command-line.ts'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { deployedStage } from '../../infra/stack/stage.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { synthesised, synthesisedFront } from '../support/stack-template.ts'
import { costReport } from './costs.ts'
import { measureFlows } from './measure-flows.ts'
import { SUITES } from './suites.ts'

const COSTS = 'docs/operations.md'
const FIGURES = 'docs/performance.md'

const HELP = `npm run bench -- [SUITE] [--write]

Measures the gateway. Without a suite: \`units\`, and what the gateway costs idle, in use and per million payments.
${Object.entries(SUITES)
  .map(([name, { does }]) => `  ${name.padEnd(12)} ${does}`)
  .join('\n')}
  --write      puts it into its document (most: ${FIGURES}, costs: ${COSTS}) instead of printing it
  --help, -h   this text
Exit code: 0 done, 1 something is slower than it may be, 2 called wrongly.`

/** Prints what was measured, or writes it where it belongs. */
const show = (text: string, document: string, write: boolean, suite?: string): void => {
  if (!write) return console.log(text)
  const file = join(PROJECT_ROOT, document)
  writeFileSync(file, withWritten(readFileSync(file, 'utf8'), 'bench', text, suite))
}

process.exitCode = await runCommand(HELP, process.argv.slice(2), async ([first = '', ...others]) => {
  const named = first !== '' && !first.startsWith('-')
  const { write = false } = readOptions(named ? others : [first, ...others].filter((one) => one !== ''), {
    write: { type: 'boolean' },
  } as const)
  const name = named ? first : 'units'
  const suite = SUITES[name]
  if (suite === undefined) throw new UsageError(`there is no suite ${name}`)
  const { text, failures = [] } = await suite.run()
  show(text, suite.document ?? FIGURES, write, name)
  for (const failure of failures) console.error(failure)
  if (!named) {
    const templates = { gateway: synthesised('prod'), front: synthesisedFront(deployedStage('prod')) }
    show(costReport(templates, await measureFlows()), COSTS, write)
  }
  return failures.length > 0 ? 1 : 0
})
