import { Duration } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Measure, MetricRef } from './alarms/metric-ref.ts'

/** What CDK makes of a measure, over periods of so many minutes. */
export function cloudWatchMetric(measure: Measure, periodMinutes: number, label?: string): IMetric {
  const period = Duration.minutes(periodMinutes)
  if (!('formula' in measure)) return plain(measure, period, label)
  return new MathExpression({
    expression: measure.formula,
    usingMetrics: Object.fromEntries(
      Object.entries(measure.of).map(([id, metric]) => [id, plain(metric, period)]),
    ),
    period,
    label,
  })
}

function plain(
  { namespace, name, dimensions, statistic }: MetricRef,
  period: Duration,
  label?: string,
): Metric {
  return new Metric({
    namespace,
    metricName: name,
    dimensionsMap: { ...dimensions },
    statistic,
    period,
    label,
  })
}
