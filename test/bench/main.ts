import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runProgram, UsageError } from '../../infra/local/terminal/command-line.ts'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { billedStages } from './billed-stages.ts'
import { costReport } from './costs.ts'
import { floorReport } from './floor/floor.ts'
import { growthReport } from './growth.ts'
import { measureFlows } from './measure-flows.ts'
import { measureRequests, requestsReport } from './requests/requests.ts'
import { startReport } from './start/start-report.ts'
import { measureLives } from './units/measure-lives.ts'
import { measureUnits, unitsReport } from './units/measure-units.ts'
import { wallsReport } from './walls/walls.ts'

const [COSTS, FIGURES] = ['docs/operations.md', 'docs/performance.md']

type Suite = {
  readonly does: string
  /** The document that this suite writes to, if not docs/performance.md. */
  readonly document?: string
  /**
   * Runs for less than five minutes. Returns the document's text, and a sentence for each figure
   * that is out of bounds.
   */
  readonly run: (
    detailed: boolean,
  ) => Promise<{ readonly text: string; readonly failures?: readonly string[] }>
}

const SUITES: Readonly<Record<string, Suite>> = {
  units: {
    does: 'calls, request units and provider calls of every flow',
    run: async (detailed) => {
      const { flows } = await measureUnits()
      return { text: unitsReport(flows, await measureLives(), detailed) }
    },
  },
  requests: {
    does: 'request units and points of the dearest request of every route',
    document: 'docs/reliability.md',
    run: async () => ({ text: requestsReport(await measureRequests()) }),
  },
  start: {
    does: 'bytes and load time of every bundle, against a bare handler with its clients',
    run: startReport,
  },
  growth: {
    does: 'lists, balance, settling, statements, audits at a hundred to thirty thousand payments',
    run: () => growthReport(),
  },
  floor: {
    does: 'requests over HTTP, against a program that makes only unavoidable calls',
    run: floorReport,
  },
  walls: {
    does: 'the highest rates without a growing backlog, at one, ten and a hundred times the quota',
    run: wallsReport,
  },
}

const HELP = `npm run bench -- [SUITE] [--write]

Measures the gateway. Without a suite: \`units\`, and what the gateway costs idle, in use and per million payments.
${Object.entries(SUITES)
  .map(([name, { does }]) => `  ${name.padEnd(12)} ${does}`)
  .join('\n')}
  --write      writes the figures into ${FIGURES} (costs: ${COSTS}) instead of printing them
  --help, -h   this text
Exit code: 0 done, 1 something exceeds its limit, 2 wrong arguments.`

await runProgram(HELP, async ([first = '', ...others]) => {
  const named = first !== '' && !first.startsWith('-')
  const { write = false } = readOptions(
    named ? others : [first, ...others].filter((word) => word !== ''),
    { write: { type: 'boolean' } },
  )
  const name = named ? first : 'units'
  const suite = SUITES[name]
  if (suite === undefined) throw new UsageError(`there is no suite ${name}`)
  const { text, failures = [] } = await suite.run(!write)
  show(text, suite.document ?? FIGURES, write, name)
  for (const failure of failures) console.error(failure)
  if (!named) show(costReport(billedStages(), await measureFlows()), COSTS, write)
  return failures.length > 0 ? 1 : 0
})

function show(text: string, document: string, write: boolean, suite?: string) {
  if (!write) return console.log(text)
  const file = join(PROJECT_ROOT, document)
  writeFileSync(file, withWritten(readFileSync(file, 'utf8'), 'bench', text, suite))
}
