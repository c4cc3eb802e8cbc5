import { markdownTable } from '../report/markdown-table.ts'
import type { SuiteReport } from '../suites.ts'
import { type Growth, measureGrowth } from './measure-growth.ts'

const SIZES = [100, 10_000, 100_000] as const

const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : String(Math.round(value * 10) / 10)

/** What costs the same at any number, within the page that is read anyway. */
const CONSTANT = [
  'balance',
  'list, first page',
  'list of settlements',
  'statement, first page, for the first time',
  'statement, first page',
  'payments of a settlement, a hundred: the dearest page of all',
  'payment by external_reference',
  'mark paid',
  'settle 100 more',
  'audit with 100 more',
  'audit, nothing has moved',
]
/** A page that was not kept: at most 2,000 rows of the index, a million bytes. */
const MOST_MORE = 125

const unitsOf = ({ reads, writes }: Growth['costs'][number]): number => reads + writes

const failuresIn = (sizes: readonly Growth[]): readonly string[] => {
  const [smallest, ...larger] = sizes
  return CONSTANT.flatMap((action) => {
    const of = (size: Growth | undefined) => size?.costs.find((cost) => cost.action === action)
    const first = of(smallest)
    return larger.flatMap((size) => {
      const cost = of(size)
      if (first === undefined || cost === undefined) return [`${action} was not measured at ${size.payments}`]
      const more = unitsOf(cost) - unitsOf(first)
      return more <= MOST_MORE ? [] : [`${action} costs ${shown(more)} units more at ${size.payments} payments`]
    })
  })
}

/** Read and write units by action and size; the time of a model in memory would say nothing of a table. */
export const growthReport = async (sizes: readonly number[] = SIZES): Promise<SuiteReport> => {
  const measured: Growth[] = []
  for (const payments of sizes) measured.push(await measureGrowth(payments))
  const [smallest] = measured
  const heading = ['Action', ...measured.map(({ payments }) => `${payments.toLocaleString('en')} payments`)]
  const rows = (smallest?.costs ?? []).map(({ action }, at) => [
    action,
    ...measured.map(({ costs }) => {
      const cost = costs[at]
      if (cost === undefined) return ''
      return `${shown(cost.reads)} read, ${shown(cost.writes)} written`
    }),
  ])
  return { text: markdownTable(heading, rows), failures: failuresIn(measured) }
}
