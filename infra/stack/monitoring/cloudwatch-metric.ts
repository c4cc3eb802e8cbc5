import { Duration } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Measure, MetricRef } from './alarms/metric-ref.ts'

export function cloudWatchMetric(measure: Measure, periodMinutes: number, label?: string): IMetric {
  const period = Duration.minutes(periodMinutes)
  if (!('formula' in measure)) return simpleMetric(measure, period, label)
  return new MathExpression({
    expression: measure.formula,
    usingMetrics: Object.fromEntries(
      Object.entries(measure.metrics).map(([id, metric]) => [id, simpleMetric(metric, period)]),
    ),
    period,
    label,
  })
}

function simpleMetric(
  { namespace, name, dimensions, statistic }: MetricRef,
  period: Duration,
  label?: string,
) {
  return new Metric({
    namespace,
    metricName: name,
    dimensionsMap: { ...dimensions },
    statistic,
    period,
    label,
  })
}
