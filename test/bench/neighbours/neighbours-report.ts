import { join } from 'node:path'
import { httpCaller } from '../local/http-caller.ts'
import { type Latencies, percentile } from '../local/latencies.ts'
import { startProgram } from '../local/start-program.ts'
import { barPlot } from '../report/bar-plot.ts'
import { markdownTable } from '../report/markdown-table.ts'
import { measuredOn } from '../report/measured-on.ts'
import type { SuiteReport } from '../suites.ts'
import { measureEndpoints } from './measure-endpoints.ts'
import { FLOOD_LIMIT, type FloodFigures, measureFlood } from './measure-flood.ts'

const shown = (ms: number): string => ms.toFixed(1)

const row = (what: string, beside: string, own: Latencies, base: Latencies, note: string): readonly string[] => {
  const [p50, p99] = [0.5, 0.99].map((part) => percentile(own.ms, part))
  const ratio = (part: number) => (percentile(own.ms, part) / percentile(base.ms, part)).toFixed(2)
  return [what, beside, shown(p50 ?? 0), ratio(0.5), shown(p99 ?? 0), ratio(0.99), String(own.ms.length), note]
}

const HEADING = ['Others', 'Beside', 'p50 ms', 'ratio', 'p99 ms', 'ratio', 'Asked', 'What became of the neighbour']

const noteOf = ({ flood, passed, refused }: FloodFigures): string =>
  flood === 0 ? '' : `${passed} passed, ${refused} answered 429`

const floodRows = (floods: readonly FloodFigures[]): readonly (readonly string[])[] => {
  const [base] = floods
  if (base === undefined) return []
  return (['create', 'get'] as const).flatMap((request) =>
    floods.map((figure) => {
      const beside = figure.flood === 0 ? 'nobody' : `${figure.flood} a second of a client that may ${FLOOD_LIMIT}`
      return row(request, beside, figure[request], base[request], noteOf(figure))
    }),
  )
}

/** p50 and p99 of those who do nothing wrong, beside one that does, as a multiple of those without. */
export const neighboursReport = async (): Promise<SuiteReport> => {
  await using started = new AsyncDisposableStack()
  const caller = httpCaller()
  started.defer(() => caller.close())
  const gateway = await startProgram(join(import.meta.dirname, '../local/gateway-program.ts'))
  started.defer(() => gateway.end())
  const floods = await measureFlood(caller, gateway)
  const { alone, beside, attemptsHeld } = await measureEndpoints(caller, gateway)
  const table = markdownTable(HEADING, [
    row('delivery', 'an endpoint that answers', alone, alone, ''),
    row('delivery', 'an endpoint that hangs, at equal load', beside, alone, `${attemptsHeld} attempts hung`),
    ...floodRows(floods),
  ])
  const p99s = (all: readonly Latencies[]) =>
    all.map(({ ms }) => percentile(ms, 0.99) / percentile(all[0]?.ms ?? [], 0.99))
  const plot = barPlot({
    title: "Others' p99, as a multiple of that without the neighbour",
    groups: [
      { name: 'delivery, one hangs', bars: p99s([alone, beside]) },
      { name: 'create, one floods', bars: p99s(floods.map(({ create }) => create)) },
      { name: 'get, one floods', bars: p99s(floods.map(({ get }) => get)) },
    ],
    series: ['without', 'with', 'four times as much'],
    mark: { at: 1.2, name: '1.2' },
  })
  const text = `${measuredOn('npm run bench -- neighbours')}\n\n${table}\n\n![p99 beside a neighbour](plots/neighbours.svg)`
  return { text, plots: { 'neighbours.svg': plot } }
}
