import { type Latencies, percentile, perSecond } from '../local/latencies.ts'
import { barPlot } from '../report/bar-plot.ts'
import { markdownTable } from '../report/markdown-table.ts'
import { measuredOn } from '../report/measured-on.ts'
import type { SuiteReport } from '../suites.ts'
import { CONCURRENCIES, type FloorFigure, REQUESTS } from './measure-floor.ts'

const p50 = ({ ms }: Latencies): number => percentile(ms, 0.5)
const p99 = ({ ms }: Latencies): number => percentile(ms, 0.99)

const beside = (digits: number, own: number, floor: number): readonly string[] => [
  own.toFixed(digits),
  floor.toFixed(digits),
  (own / floor).toFixed(2),
]

const HEADING = [
  'Request',
  'At once',
  'a second',
  'floor',
  'ratio',
  'p50 ms',
  'floor',
  'ratio',
  'p99 ms',
  'floor',
  'ratio',
  'Asked',
]

const cells = ({ request, concurrency, gateway, floor }: FloorFigure): readonly string[] => [
  request,
  String(concurrency),
  ...beside(0, perSecond(gateway), perSecond(floor)),
  ...beside(1, p50(gateway), p50(floor)),
  ...beside(1, p99(gateway), p99(floor)),
  `${gateway.ms.length}, ${floor.ms.length}`,
]

/** Throughput, p50 and p99 of every request on the gateway and on the floor program, with the ratio of each. */
export const floorReport = (figures: readonly FloorFigure[]): SuiteReport => {
  const plot = barPlot({
    title: 'Time of the gateway, p50, as a multiple of the floor',
    groups: REQUESTS.map((request) => ({
      name: request,
      bars: figures
        .filter((figure) => figure.request === request)
        .map(({ gateway, floor }) => p50(gateway) / p50(floor)),
    })),
    series: CONCURRENCIES.map((concurrency) => `${concurrency} at once`),
    mark: { at: 1, name: 'the floor' },
  })
  const table = markdownTable(HEADING, figures.map(cells))
  return {
    text: `${measuredOn('npm run bench -- floor')}\n\n${table}\n\n![p50 beside the floor](plots/floor.svg)`,
    plots: { 'floor.svg': plot },
  }
}
