import { pointsOf } from '../../../shared/client/enforce-rate-limit.ts'
import { markdownTable } from '../report/markdown-table.ts'
import type { RequestCost } from './measure-requests.ts'

const HEADING = ['Request', 'Write units', 'Read units', 'Points before', 'Points in all']

/** At least those that are taken before. */
export const pointsInAll = ({ reads, writes, before }: RequestCost): number =>
  Math.max(before, pointsOf(reads + writes))

/** The table of docs/reliability.md as markdown. The same measurement gives the same text. */
export const requestsReport = (costs: readonly RequestCost[]): string =>
  markdownTable(
    HEADING,
    costs.map((cost) => [
      `\`${cost.request.split(': ')[0]}\`${cost.request.includes(': ') ? `: ${cost.request.split(': ')[1]}` : ''}`,
      String(cost.writes),
      String(cost.reads),
      String(cost.before),
      String(pointsInAll(cost)),
    ]),
  )
