/** What a suite measured: its part of docs/performance.md, and its plots by the names of their files in docs/plots. */
export type SuiteReport = {
  readonly text: string
  readonly plots?: Readonly<Record<string, string>>
  /** What is not as it must be, in words. */
  readonly failures?: readonly string[]
}

export type Suite = {
  readonly does: string
  /** Where its part stands, if not in docs/performance.md. */
  readonly document?: string
  /** In under five minutes, alone. */
  readonly run: () => Promise<SuiteReport>
}

/** What `npm run bench -- NAME` can measure. A suite is loaded when it is asked for. */
export const SUITES: Readonly<Record<string, Suite>> = {
  units: {
    does: 'calls, request units and provider calls of every flow',
    run: async () => {
      const { unitsReport } = await import('./units/units-report.ts')
      const { measureUnits } = await import('./units/measure-units.ts')
      return { text: unitsReport(await measureUnits()) }
    },
  },
  requests: {
    does: 'request units and points of the dearest request of every route',
    document: 'docs/reliability.md',
    run: async () => {
      const { requestsReport } = await import('./requests/requests-report.ts')
      const { measureRequests } = await import('./requests/measure-requests.ts')
      return { text: requestsReport(await measureRequests()) }
    },
  },
  start: {
    does: 'bytes and load time of every bundle beside a bare handler of the same clients',
    run: async () => {
      const { startReport } = await import('./start/start-report.ts')
      return startReport()
    },
  },
  growth: {
    does: 'lists, balance, settling, statements and audits at a hundred to a hundred thousand payments',
    run: async () => {
      const { growthReport } = await import('./growth/growth-report.ts')
      return growthReport()
    },
  },
  'month-end': {
    does: 'the commands of the month end with a thousand merchants',
    document: 'docs/operations.md',
    run: async () => {
      const { monthEndReport } = await import('./growth/month-end-report.ts')
      return monthEndReport()
    },
  },
  floor: {
    does: 'requests over HTTP beside a program that makes only the unavoidable calls',
    run: async () => {
      const { floorReport } = await import('./floor/floor-report.ts')
      const { measureFloor } = await import('./floor/measure-floor.ts')
      return floorReport(await measureFloor())
    },
  },
  neighbours: {
    does: 'others beside an endpoint that hangs, and beside a client that floods',
    run: async () => {
      const { neighboursReport } = await import('./neighbours/neighbours-report.ts')
      return neighboursReport()
    },
  },
  walls: {
    does: 'the highest rates that go on without a backlog, at one, ten and a hundred times the quota',
    run: async () => {
      const { wallsReport } = await import('./walls/walls-report.ts')
      return wallsReport()
    },
  },
}
