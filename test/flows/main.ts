import { runProgram, UsageError } from '../../infra/local/terminal/command-line.ts'
import { startMeteredWorld } from '../bench/metered-world.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { type ExecutedFile, executedFiles } from './executed-files.ts'
import {
  type FlowFigures,
  flowFigures,
  GROUPS,
  type Group,
  groupOf,
  limitsFor,
} from './flow-figures.ts'
import { FLOWS, type FlowName, walkFlows } from './walk-flows.ts'

const NAMES = Object.keys(FLOWS) as FlowName[]

const USAGE = `npm run flows [-- FLOW]

Runs each flow once under V8's precise coverage. Counts the files of which a function ran, and the lines of the functions
that ran. Prints these figures, and the table of limits for docs/changing.md, whose limits are the figures rounded up.
With the name of a flow it prints the flow's files, those with the most lines first:
${NAMES.map((name) => `  ${name.padEnd(10)} ${FLOWS[name]}`).join('\n')}
  --json       prints the figures as JSON
  --help, -h   this text
Exit code: 0 done, 2 wrong arguments.`

await runProgram(USAGE, async ([asked, ...others]) => {
  const name = NAMES.find((one) => one === asked)
  const isKnown = asked === undefined || asked === '--json' || name !== undefined
  if (!isKnown || others.length > 0)
    throw new UsageError(`there is no flow ${[asked, ...others].join(' ')}`)
  const measured = await measureFlows()
  const figures = measured.map((flow) => ({ name: flow.name, figures: flowFigures(flow.files) }))
  if (name !== undefined)
    console.log(fileList(measured.find((flow) => flow.name === name)?.files ?? []))
  else if (asked === '--json')
    console.log(JSON.stringify(figures.map((flow) => ({ ...flow, title: titleOf(flow.name) }))))
  else
    console.log(
      `${figuresTable('Measured', figures)}\n\n${figuresTable('Flow', limitsOf(figures))}`,
    )
  return 0
})

type Measured = { readonly name: FlowName; readonly files: readonly ExecutedFile[] }

/** The first walk loads every module and starts the environments, so that these are in no flow. */
async function measureFlows() {
  const measured: Measured[] = []
  const metered = await startMeteredWorld()
  await walkFlows(metered, (_, run) => run())
  await walkFlows(metered, async (name, run) => {
    measured.push({ name, files: await executedFiles(run) })
  })
  return measured
}

function fileList(files: readonly ExecutedFile[]) {
  const inGroup = (group: Group) =>
    files
      .filter(({ path }) => groupOf(path) === group)
      .toSorted((a, b) => b.lines - a.lines)
      .map(({ path, lines }) => `${String(lines).padStart(5)}  ${path}`)
  return Object.entries(GROUPS)
    .map(([group, title]) => [`${title}:`, ...inGroup(group as Group)].join('\n'))
    .join('\n\n')
}

type NamedFigures = { readonly name: FlowName; readonly figures: FlowFigures }

function figuresTable(title: string, flows: readonly NamedFigures[]) {
  const heading = Object.values(GROUPS).flatMap((group) => [`${group}: files`, 'lines'])
  const rows = flows.map(({ name, figures: { own, technical, basic } }) => [
    titleOf(name),
    ...[own, technical, basic].flatMap(({ files, lines }) => [files, lines]),
  ])
  return markdownTable([title, ...heading], rows)
}

function titleOf(name: FlowName) {
  return `\`${name}\`: ${FLOWS[name]}`
}

function limitsOf(flows: readonly NamedFigures[]) {
  return flows.map(({ name, figures }) => ({ name, figures: limitsFor(figures) }))
}
