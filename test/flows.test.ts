/**
 * Goal: a flow that a reader follows from its handler to its last write does not grow unnoticed.
 * Method: each flow runs once under V8's precise coverage, and its figures are compared with the
 * limits of docs/changing.md. A change that shortens a flow also lowers its limits.
 */
import { expect, it } from 'vitest'
import {
  byGroup,
  type FlowFigures,
  GROUPS,
  type Group,
  limitsFor,
  problemsOf,
} from './flows/flow-figures.ts'
import { runTool } from './support/run-tool.ts'
import { projectText } from './support/source-file.ts'

const { code, output, errors } = await runTool(process.execPath, ['test/flows/main.ts', '--json'], {
  env: { TEST_TABLE: 'memory' },
})
if (code !== 0) throw new Error(`npm run flows ended with ${code}: ${errors}`)
const MEASURED = JSON.parse(output) as readonly {
  readonly name: string
  readonly title: string
  readonly figures: FlowFigures
}[]

const [, section = ''] = projectText('docs/changing.md').split('\n## The flows\n')
const ROWS = [
  ...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`(\w+)`: .+?) \| ([\d |]+) \|$/gm),
]
const LIMITS = new Map(
  ROWS.map(([, , name = '', figures = '']) => [name, limitsIn(figures.split(' | ').map(Number))]),
)

function limitsIn(cells: readonly number[]) {
  const groups = Object.keys(GROUPS) as Group[]
  return byGroup((group) => {
    const [files = 0, lines = 0] = cells.slice(2 * groups.indexOf(group))
    return { files, lines }
  })
}

it('measures eight flows, and docs/changing.md has the title and the limits of each', () => {
  const flows = [
    'create',
    'callback',
    'webhook',
    'posting',
    'settle',
    'payout',
    'audit',
    'reversal',
  ]

  expect(MEASURED.map(({ name }) => name)).toStrictEqual(flows)
  expect([...LIMITS.keys()]).toStrictEqual(flows)
  expect(ROWS.map(([, title]) => title)).toStrictEqual(MEASURED.map(({ title }) => title))
})

it.each(MEASURED)('$name: is within its limits, and close to them', ({ name, figures }) => {
  const limits = LIMITS.get(name)

  expect(limits && problemsOf(name, figures, limits)).toStrictEqual([])
})

// How the lines and files of a flow are counted: `flows.test.ts` holds it, whose limits are close.
it('a limit refuses a figure above it, and is refused itself when it is far above the figure', () => {
  const limits = limitsFor(byGroup(() => ({ files: 20, lines: 290 })))
  const above = { ...limits, own: { files: 20, lines: 301 } }
  const farBelow = { ...limits, basic: { files: 13, lines: 290 } }

  expect(problemsOf('settle', limits, limits)).toStrictEqual([])
  expect(problemsOf('settle', above, limits)).toStrictEqual([
    'settle, own code: 301 lines, limit 300. "npm run flows -- settle" lists the files',
  ])
  expect(problemsOf('settle', farBelow, limits)).toStrictEqual([
    'settle, directly in `shared/`: 13 files, limit 20 is too high. "npm run flows" prints ' +
      'the new limits',
  ])
})
