import { markdownTable } from '../report/markdown-table.ts'
import type { SuiteReport } from '../suites.ts'
import { type Command, measureMonthEnd } from './measure-month-end.ts'

const CLIENTS = 1_000
/** The owner of the books waits at most so long for all of them. */
const MOST_SECONDS = 300

const rowOf = ({ command, lines, runs, seconds, reads }: Command) => [
  `\`${command}\``,
  lines === 0 ? '' : (lines - 1).toLocaleString('en'),
  String(runs),
  seconds.toFixed(1),
  Math.round(reads).toLocaleString('en'),
]

/** The commands of the month end on a year of made data, on the table in memory. */
export const monthEndReport = async (clients = CLIENTS): Promise<SuiteReport> => {
  const commands = await measureMonthEnd(clients)
  const seconds = commands.reduce((sum, command) => sum + command.seconds, 0)
  const text = [
    `${clients.toLocaleString('en')} merchants, each settled every week of a year, on the table in memory:`,
    markdownTable(['Command', 'Lines', 'Runs', 'Seconds', 'Read units'], commands.map(rowOf)),
  ].join('\n\n')
  return { text, failures: seconds <= MOST_SECONDS ? [] : [`the month end takes ${Math.round(seconds)} seconds`] }
}
