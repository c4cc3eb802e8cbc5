import {
  busyCosts,
  type CostLine,
  idleCosts,
  otherCosts,
  paidCosts,
  sumOf,
  type Templates,
  unpaidCosts,
} from './cost-lines.ts'
import type { Measured } from './measure-flows.ts'
import { PRICED } from './prices.ts'

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
const table = (heading: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(heading), row(heading.map(() => '---')), ...rows.map(row)].join('\n')

const cost = ({ component, basis, usd }: CostLine) => [component, basis, `$${usd.toFixed(2)}`]
const bold = (text: string) => (text === '' ? '' : `**${text}**`)

const costTable = (lines: readonly CostLine[], sum?: string) => {
  const all = cost({ component: sum ?? '', basis: '', usd: sumOf(lines) })
  return table(['What', 'Of', 'USD'], [...lines.map(cost), ...(sum === undefined ? [] : [all.map(bold)])])
}

const flowTable = (flows: Measured['perPayment']) =>
  table(
    ['Step of a payment', 'Function', 'Write units', 'Read units', 'Messages'],
    flows.map(({ name, functionName, writes, reads, messages }) => [
      name,
      `\`${functionName}\``,
      ...[writes, reads, messages].map((value) => value.toFixed(1)),
    ]),
  )

/** The tables of docs/operations.md as markdown. The same measurement gives the same text. */
export const costReport = (templates: Templates, measured: Measured): string =>
  [
    `List prices of ${PRICED.region}, read ${PRICED.readOn}, without free tiers: \`test/bench/prices.ts\`. Stage \`prod\` as it is in infra/stages/prod.json.`,
    `Measured for one payment that is paid:\n\n${flowTable(measured.perPayment)}`,
    `For one that nobody pays:\n\n${flowTable(measured.perUnpaid)}`,
    `Idle, a month:\n\n${costTable(idleCosts(templates, measured), 'Idle, a month')}`,
    `Payments in every hour of a month, besides each payment’s own:\n\n${costTable(busyCosts(templates, measured), 'In use, a month, on top')}`,
    `A million paid payments:\n\n${costTable(paidCosts(measured), 'A million paid payments')}`,
    `A million payments that nobody pays:\n\n${costTable(unpaidCosts(measured), 'A million unpaid payments')}`,
    `Besides:\n\n${costTable(otherCosts(measured))}`,
  ].join('\n\n')
