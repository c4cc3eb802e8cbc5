import { floorReport } from './floor/floor.ts'
import { growthReport } from './growth/growth.ts'
import { monthEndReport } from './growth/month-end.ts'
import { neighboursReport } from './neighbours/neighbours.ts'
import { measureRequests, requestsReport } from './requests/requests.ts'
import { startReport } from './start/start-report.ts'
import { measureUnits, unitsReport } from './units/measure-units.ts'
import { wallsReport } from './walls/walls.ts'

/** What a suite measured: its part of a document, and what is not as it must be, in words. */
export type SuiteReport = { readonly text: string; readonly failures?: readonly string[] }

export type Suite = {
  readonly does: string
  /** Where its part stands, if not in docs/performance.md. */
  readonly document?: string
  /** In under five minutes, alone. */
  readonly run: () => Promise<SuiteReport>
}

/** What `npm run bench -- NAME` can measure. */
export const SUITES: Readonly<Record<string, Suite>> = {
  units: {
    does: 'calls, request units and provider calls of every flow',
    run: async () => ({ text: unitsReport(await measureUnits()) }),
  },
  requests: {
    does: 'request units and points of the dearest request of every route',
    document: 'docs/reliability.md',
    run: async () => ({ text: requestsReport(await measureRequests()) }),
  },
  start: {
    does: 'bytes and load time of every bundle beside a bare handler of the same clients',
    run: startReport,
  },
  growth: {
    does: 'lists, balance, settling, statements and audits at a hundred to thirty thousand payments',
    run: () => growthReport(),
  },
  'month-end': {
    does: 'the commands of the month end with a thousand merchants',
    document: 'docs/operations.md',
    run: monthEndReport,
  },
  floor: {
    does: 'requests over HTTP beside a program that makes only the unavoidable calls',
    run: floorReport,
  },
  neighbours: {
    does: 'others beside an endpoint that hangs, and beside a client that floods',
    run: neighboursReport,
  },
  walls: {
    does: 'the highest rates that go on without a backlog, at one, ten and a hundred times the quota',
    run: wallsReport,
  },
}
