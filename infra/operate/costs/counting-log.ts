import * as v from 'valibot'
import type { Log, LogCode, LogFields } from '../../../shared/log.ts'
import { embeddedMetrics } from '../../../shared/runtime/embedded-metrics.ts'

const Embedded = v.looseObject({
  _aws: v.object({
    CloudWatchMetrics: v.array(
      v.object({ Dimensions: v.array(v.array(v.string())), Metrics: v.array(v.object({ Name: v.string() })) }),
    ),
  }),
})

/** What CloudWatch bills as one metric: a name with the values of one set of dimensions. */
const seriesOf = (emf: unknown): readonly string[] => {
  if (!v.is(Embedded, emf)) return []
  const line: Readonly<Record<string, unknown>> = emf
  return v
    .parse(Embedded, emf)
    ._aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
      Dimensions.flatMap((names) =>
        Metrics.map(({ Name }) => [Name, ...names.map((name) => String(line[name]))].join(' ')),
      ),
    )
}

/** Lines as the deployed functions write them, with their metrics, counted instead of written. */
export const countingLog = (serviceName: string) => {
  const metricsOf = embeddedMetrics(serviceName)
  const series = new Set<string>()
  let bytes = 0
  const count =
    (level: string) =>
    (message: LogCode, fields: LogFields = {}) => {
      const emf = metricsOf(message, fields)
      for (const one of seriesOf(emf)) series.add(one)
      const line = { level, message, timestamp: '2026-11-20T04:00:00.000Z', service: serviceName, ...fields, ...emf }
      bytes += Buffer.byteLength(JSON.stringify(line)) + 1
    }
  const log: Log = { info: count('INFO'), warn: count('WARN'), error: count('ERROR') }
  const take = () => {
    const taken = bytes
    bytes = 0
    return taken
  }
  /** Metrics of our own that were written to so far. */
  return { log, take, seriesCount: () => series.size }
}
