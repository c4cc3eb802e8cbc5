import { markdownTable } from '../../support/markdown-table.ts'
import { type Latencies, percentile } from '../local/latencies.ts'
import { startBench } from '../local/start-bench.ts'
import { measuredOn } from '../measured-on.ts'
import type { SuiteReport } from '../suites.ts'
import { measureEndpoints } from './measure-endpoints.ts'
import { FLOOD_LIMIT, type FloodFigures, measureFlood } from './measure-flood.ts'

const row = (what: string, beside: string, own: Latencies, base: Latencies, note: string): readonly string[] => {
  const times = [0.5, 0.99].flatMap((part) => {
    const ms = percentile(own.ms, part)
    return [ms.toFixed(1), (ms / percentile(base.ms, part)).toFixed(2)]
  })
  return [what, beside, ...times, String(own.ms.length), note]
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
  const bench = await startBench(started)
  const floods = await measureFlood(bench)
  const { alone, beside, attemptsHeld } = await measureEndpoints(bench)
  const table = markdownTable(HEADING, [
    row('delivery', 'an endpoint that answers', alone, alone, ''),
    row('delivery', 'an endpoint that hangs, at equal load', beside, alone, `${attemptsHeld} attempts hung`),
    ...floodRows(floods),
  ])
  return { text: `${measuredOn('npm run bench -- neighbours')}\n\n${table}` }
}
