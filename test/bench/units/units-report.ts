import { unitsIn } from '../meter-table.ts'
import type { FlowUnits } from './measure-units.ts'

const shown = (value: number): string => String(Math.round(value * 100) / 100)

/** `PAYMENT 2, PAYMENT/by-due 1`: of one sort, in the order of the alphabet. */
const parts = ({ detail }: FlowUnits, sort: string): string =>
  Object.entries(detail)
    .filter(([name, units]) => name.startsWith(`${sort} `) && shown(units) !== '0')
    .map(([name, units]) => `${name.slice(sort.length + 1)} ${shown(units)}`)
    .toSorted()
    .join(', ')

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const HEADING = ['Flow', 'Write units', 'Read units', 'Written', 'Read', 'Calls of the table', 'Calls of the provider']

const cells = (flow: FlowUnits): readonly string[] => [
  flow.flow,
  shown(unitsIn(flow.detail, 'writes')),
  shown(unitsIn(flow.detail, 'reads')),
  parts(flow, 'writes'),
  parts(flow, 'reads'),
  parts(flow, 'calls'),
  [parts(flow, 'provider'), parts(flow, 'rows').replace(/^/, 'rows: ')]
    .filter((text) => !/^(rows: )?$/.test(text))
    .join('; '),
]

/** A payment's way, in the table's order: what is asked of it besides is not counted. */
export const PAID = [
  'created',
  'paid, credited, announced',
  'delivered',
  'looked at by the sync',
  'fee made final',
  'settled',
]

const together = (flow: string, flows: readonly FlowUnits[]): readonly string[] => {
  const sum = (sort: string) => shown(flows.reduce((all, { detail }) => all + unitsIn(detail, sort), 0))
  return [flow, sum('writes'), sum('reads'), sum('provider')]
}

const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(heading), row(heading.map(() => '---')), ...rows.map(row)].join('\n')

/** What each flow uses, by item and index, and calls; and each payment from its create to its end. */
export const unitsReport = (flows: readonly FlowUnits[]): string => {
  const unpaid = Map.groupBy(flows, ({ flow }) => /^unpaid [^:]+/.exec(flow)?.[0])
  const whole = [
    together(
      'paid, from create to settled',
      flows.filter(({ flow }) => PAID.includes(flow)),
    ),
    ...[...unpaid].flatMap(([name, some]) => (name === undefined ? [] : [together(`${name}, to its webhook`, some)])),
  ]
  const wholes = table(['A payment', 'Write units', 'Read units', 'Calls of the provider'], whole)
  return `${wholes}\n\n${table(HEADING, flows.map(cells))}`
}
