import { Metrics } from '@aws-lambda-powertools/metrics'
import type { LogCode, LogFields } from '../log.ts'
import { LOG_METRICS, type LogMetrics, METRIC_NAMESPACE, METRICS, type Measured, type MetricName } from '../metrics.ts'

type EmfOutput = ReturnType<Metrics['serializeMetrics']>
type Directive = Omit<EmfOutput['_aws']['CloudWatchMetrics'][number], 'Dimensions'> & {
  readonly Dimensions: readonly (readonly string[])[]
}

/** The additional fields of a log line from which CloudWatch reads metrics. */
export type MetricsOf = (
  code: LogCode,
  fields: LogFields,
) => Readonly<Record<string, unknown>> & {
  readonly _aws?: { readonly Timestamp: number; readonly CloudWatchMetrics: readonly Directive[] }
}

/** CloudWatch refuses an empty dimension; a QRIS payment, for example, has no channel. */
const NO_VALUE = 'none'

const valueOf = ({ value }: Measured, fields: LogFields): number | undefined => {
  if (typeof value === 'number') return value
  const found = fields[value.field]
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

type Value = { readonly metric: MetricName; readonly value: number }

/** Merges several outputs into one line. `service` is left out, because the logger already writes it. */
const merged = (outputs: readonly EmfOutput[]): ReturnType<MetricsOf> => {
  const [first] = outputs
  if (!first) return {}
  const all: Readonly<Record<string, unknown>> = Object.assign({}, ...outputs)
  const { service: _, ...values } = all
  const directives = outputs.flatMap(({ _aws }) => _aws.CloudWatchMetrics)
  return { ...values, _aws: { ...first._aws, CloudWatchMetrics: byMetrics(directives) } }
}

/** Joins directives with the same metrics into one, because CloudWatch bills a line by its length. */
const byMetrics = (directives: readonly Directive[]): readonly Directive[] => {
  const groups = Map.groupBy(directives, ({ Metrics: metrics }) => JSON.stringify(metrics))
  return [...groups.values()].flatMap((same) =>
    same.slice(0, 1).map((one) => ({ ...one, Dimensions: same.flatMap(({ Dimensions }) => Dimensions) })),
  )
}

/**
 * The metrics of a log line in CloudWatch's embedded format, so that a metric needs no own line. Every metric has the
 * stage as the dimension `service`.
 */
export const embeddedMetrics = (serviceName: string): MetricsOf => {
  const metrics = new Metrics({ namespace: METRIC_NAMESPACE, serviceName })

  const serialized = (values: readonly Value[], dimensions: Readonly<Record<string, string>>): EmfOutput => {
    if (Object.keys(dimensions).length > 0) metrics.addDimensions(dimensions)
    for (const { metric, value } of values) metrics.addMetric(metric, METRICS[metric].unit, value)
    const output = metrics.serializeMetrics()
    metrics.clearMetrics()
    metrics.clearDimensions()
    return output
  }

  const ofGroup = ({ measured, fixed }: LogMetrics, fields: LogFields): readonly EmfOutput[] => {
    const values = measured.flatMap((one): readonly Value[] => {
      const value = valueOf(one, fields)
      return value === undefined ? [] : [{ metric: one.metric, value }]
    })
    const [first] = values
    if (!first) return []
    return METRICS[first.metric].dimensionSets.map((set) =>
      serialized(
        values,
        Object.fromEntries(set.map((name) => [name, String(fixed?.[name] ?? fields[name] ?? NO_VALUE)])),
      ),
    )
  }

  return (code, fields) => merged((LOG_METRICS[code] ?? []).flatMap((group) => ofGroup(group, fields)))
}
