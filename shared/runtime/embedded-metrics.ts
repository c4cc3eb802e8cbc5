import type { LogCode, LogFields } from '../log.ts'
import { LOG_METRICS, type LogMetrics, METRIC_NAMESPACE, METRICS, type Measured } from '../metrics.ts'

/** One part of a log line in CloudWatch's embedded metric format (EMF): metrics with the same dimension sets. */
type Directive = {
  readonly Namespace: string
  readonly Dimensions: readonly (readonly string[])[]
  readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[]
}

/** The additional fields of a log line from which CloudWatch reads metrics. */
export type EmbeddedMetrics = Readonly<Record<string, unknown>> & {
  readonly _aws?: { readonly Timestamp: number; readonly CloudWatchMetrics: readonly Directive[] }
}

/** CloudWatch refuses an empty dimension; a QRIS payment, for example, has no channel. */
const NO_VALUE = 'none'

const valueOf = ({ value }: Measured, fields: LogFields): number | undefined => {
  if (typeof value === 'number') return value
  const found = fields[value.field]
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

const ofGroup = ({ measured, fixed }: LogMetrics, fields: LogFields) => {
  const values = measured.flatMap((one) => {
    const value = valueOf(one, fields)
    return value === undefined ? [] : [[one.metric, value] as const]
  })
  const sets = values.slice(0, 1).flatMap(([metric]): readonly (readonly string[])[] => METRICS[metric].dimensionSets)
  const dimensions = sets.flat().map((name) => [name, String(fixed?.[name] ?? fields[name] ?? NO_VALUE)])
  const directive: Directive = {
    Namespace: METRIC_NAMESPACE,
    Dimensions: sets.map((set) => ['service', ...set]),
    Metrics: values.map(([metric]) => ({ Name: metric, Unit: METRICS[metric].unit })),
  }
  return { members: [...dimensions, ...values], directives: values.length === 0 ? [] : [directive] }
}

/**
 * The metrics of a log line in CloudWatch's embedded format, so that a metric needs no own line. Every metric has the
 * stage as the dimension `service`, which the log writes on each line.
 */
export const embeddedMetrics = (code: LogCode, fields: LogFields): EmbeddedMetrics => {
  const groups = (LOG_METRICS[code] ?? []).map((group) => ofGroup(group, fields))
  const directives = groups.flatMap((group) => group.directives)
  if (directives.length === 0) return {}
  const members = Object.fromEntries(groups.flatMap((group) => group.members))
  return { ...members, _aws: { Timestamp: Date.now(), CloudWatchMetrics: directives } }
}
