import type { StageTemplate } from '../../stack/stage-template.ts'
import type { Flow } from './flow.ts'
import { type CostLine, idleCosts } from './idle-components.ts'
import type { Measured } from './measure-flows.ts'
import { abandonedCosts, optionCosts, paymentCosts } from './payment-costs.ts'
import { PRICES } from './prices.ts'

/** Between these lines docs/operations.md holds what `npm run costs -- --write` puts there. */
const BEGIN = '<!-- costs: written by `npm run costs -- --write` -->'
const END = '<!-- end of costs -->'

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
const table = (heading: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(heading), row(heading.map(() => '---')), ...rows.map(row)].join('\n')

const usd = (value: number) => `$${value.toFixed(2)}`
const one = (value: number) => value.toFixed(1)

const costTable = (lines: readonly CostLine[], sum: string | undefined) =>
  table(
    ['What', 'Of', 'USD'],
    [
      ...lines.map(({ component, basis, usd: amount }) => [component, basis, usd(amount)]),
      ...(sum === undefined ? [] : [[`**${sum}**`, '', `**${usd(lines.reduce((all, line) => all + line.usd, 0))}**`]]),
    ],
  )

const flowTable = (flows: readonly Flow[]) =>
  table(
    ['Step of a payment', 'Function', 'Write units', 'Read units', 'Messages'],
    flows.map(({ name, functionName, writes, reads, messages }) => [
      name,
      `\`${functionName}\``,
      one(writes),
      one(reads),
      one(messages),
    ]),
  )

/** The chapter's tables as markdown. The same measurement gives the same text. */
export const costReport = (template: StageTemplate, measured: Measured): string =>
  [
    BEGIN,
    `List prices of ${PRICES.region}, read ${PRICES.readOn}, without free tiers: \`infra/operate/costs/prices.ts\`. Stage \`prod\` as it is in infra/stack/stage.ts.`,
    `Measured for one payment:\n\n${flowTable(measured.perPayment)}`,
    `Idle, a month:\n\n${costTable(idleCosts(template, measured), 'Idle, a month')}`,
    `A million payments:\n\n${costTable(paymentCosts(template, measured), 'A million payments')}`,
    `Besides:\n\n${costTable([abandonedCosts(template, measured), ...optionCosts(measured)], undefined)}`,
    END,
  ].join('\n\n')

/** The document with the report in its place. Throws when it has no place for one. */
export const withReport = (document: string, report: string): string => {
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error('the document has no place for the costs')
  return `${document.slice(0, begin)}${report}${document.slice(end + END.length)}`
}
