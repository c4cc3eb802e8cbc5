import { markdownTable } from '../../support/markdown-table.ts'
import { type Latencies, percentile, perSecond } from '../local/latencies.ts'
import { measuredOn } from '../measured-on.ts'
import type { SuiteReport } from '../suites.ts'
import { type FloorFigures, measureFloor, PAYING, type PaceFigure, REQUESTS } from './measure-floor.ts'

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

const rowsOf = ({ concurrency, gateway, floor }: FloorFigures): readonly (readonly string[])[] =>
  REQUESTS.map((request) => {
    const [own, least] = [gateway[request], floor[request]]
    const times = [p50, p99].flatMap((of) => beside(1, of(own), of(least)))
    const pace = beside(0, perSecond(own), perSecond(least))
    return [request, String(concurrency), ...pace, ...times, `${own.ms.length}, ${least.ms.length}`]
  })

/** Webhooks of a flat-out load: this part of the payments' pace, and all within this time after the last payment. */
const LEAST_PACE = 0.5
const MOST_REST_MS = 5_000

const paceText = ({ paid, told, restMs }: PaceFigure): string => {
  const payments = perSecond(paid)
  const webhooks = (told / paid.elapsedMs) * 1_000
  const ratio = (webhooks / payments).toFixed(2)
  return `While ${PAYING} callers paid flat out: ${payments.toFixed(1)} payments and ${webhooks.toFixed(1)} webhooks a second (${ratio}); the last webhook came ${(restMs / 1_000).toFixed(1)} s after the last payment (${paid.ms.length} payments).`
}

const tooSlow = ({ paid, told, restMs }: PaceFigure): readonly string[] => [
  ...(told < paid.ms.length * LEAST_PACE ? [`${told} webhooks came while ${paid.ms.length} payments were made`] : []),
  ...(restMs > MOST_REST_MS ? [`the last webhook came ${Math.round(restMs)} ms after the last payment`] : []),
]

/**
 * Throughput, p50 and p99 of every request on the gateway and on the floor program, with the ratio of each. Fails when
 * the webhooks of a flat-out load are late.
 */
export const floorReport = async (): Promise<SuiteReport> => {
  const { figures, pace } = await measureFloor()
  const text = [measuredOn('npm run bench -- floor'), markdownTable(HEADING, figures.flatMap(rowsOf)), paceText(pace)]
  return { text: text.join('\n\n'), failures: tooSlow(pace) }
}
