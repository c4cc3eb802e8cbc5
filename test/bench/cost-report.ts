import { markdownTable } from '../support/markdown-table.ts'
import {
  busyCosts,
  type CostLine,
  idleCosts,
  otherCosts,
  paidCosts,
  sumOf,
  type Templates,
  unpaidCosts,
  usdOf,
} from './cost-lines.ts'
import type { Measured } from './measure-flows.ts'
import { PRICED } from './prices.ts'

const dollars = (usd: number) => `$${usd.toFixed(2)}`
const bold = (text: string) => (text === '' ? '' : `**${text}**`)

const costs = (lines: readonly CostLine[], sum?: string) => {
  const rows = lines.map((line) => [line.component, line.basis, dollars(usdOf(line))])
  const all = [sum ?? '', '', dollars(sumOf(lines))].map(bold)
  return markdownTable(['What', 'Of', 'USD'], [...rows, ...(sum === undefined ? [] : [all])])
}

const flowTable = (flows: Measured['perPayment']) =>
  markdownTable(
    ['Step of a payment', 'Function', 'Write units', 'Read units', 'Messages'],
    flows.map(({ name, functionName, writes, reads, messages }) => [
      name,
      `\`${functionName}\``,
      ...[writes, reads, messages].map((value) => value.toFixed(1)),
    ]),
  )

/** The tables of docs/operations.md as markdown. The same measurement gives the same text. */
export const costReport = (templates: Templates, measured: Measured): string => {
  const { region, readOn } = PRICED
  return [
    `List prices of ${region}, read ${readOn}, without free tiers: \`test/bench/prices.ts\`. Stage \`prod\` as it is in infra/stages/prod.json.`,
    `Measured for one payment that is paid:\n\n${flowTable(measured.perPayment)}`,
    `For an unpaid one:\n\n${flowTable(measured.perUnpaid)}`,
    `Idle, a month:\n\n${costs(idleCosts(templates, measured), 'Idle, a month')}`,
    `Payments in every hour of a month, besides each payment’s own:\n\n${costs(busyCosts(templates, measured), 'In use, a month, on top')}`,
    `A million paid payments:\n\n${costs(paidCosts(measured), 'A million paid payments')}`,
    `A million unpaid payments:\n\n${costs(unpaidCosts(measured), 'A million unpaid payments')}`,
    `Besides:\n\n${costs(otherCosts(measured))}`,
  ].join('\n\n')
}
