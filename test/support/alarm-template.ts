import type { StackTemplate } from './stack-template.ts'

type RawMetric = {
  readonly Namespace: string
  readonly MetricName: string
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[]
}
type RawAlarm = RawMetric &
  Readonly<
    Record<'AlarmName' | 'AlarmDescription' | 'ComparisonOperator' | 'TreatMissingData', string>
  > &
  Readonly<Record<'Period' | 'Threshold' | 'EvaluationPeriods', number>> & {
    readonly Statistic?: string
    readonly DatapointsToAlarm?: number
    readonly Metrics?: readonly {
      readonly Id: string
      readonly Expression?: string
      readonly MetricStat?: {
        readonly Metric: RawMetric
        readonly Period: number
        readonly Stat: string
      }
    }[]
    readonly AlarmActions?: readonly unknown[]
  }

export function alarmsIn(template: StackTemplate, stage: string) {
  return template.ofType('AWS::CloudWatch::Alarm').map(({ logicalId, properties }) => {
    const alarm = properties as RawAlarm
    const stats = alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []) ?? [
      { ...alarm, Metric: alarm, Stat: alarm.Statistic ?? '' },
    ]
    const ids = alarm.Metrics?.flatMap(({ Id, MetricStat }) => (MetricStat ? [Id] : [])) ?? ['m0']
    return {
      logicalId,
      id: alarm.AlarmName.replace(`gateway-${stage}-`, ''),
      description: alarm.AlarmDescription,
      /** Beside `metrics`: the name in the formula, and the statistic. */
      reads: stats.map(({ Stat }, at) => ({ name: ids[at] ?? '', statistic: Stat })),
      metrics: stats.map(({ Metric: { Namespace, MetricName, Dimensions = [] }, Period }) => ({
        namespace: Namespace,
        name: MetricName,
        dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
        periodSeconds: Period,
      })),
      expression: alarm.Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression,
      threshold: alarm.Threshold,
      comparison: alarm.ComparisonOperator,
      evaluationPeriods: alarm.EvaluationPeriods,
      datapointsToAlarm: alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods,
      treatMissingData: alarm.TreatMissingData,
      alarmActions: alarm.AlarmActions ?? [],
    }
  })
}

export type TemplateMetric = ReturnType<typeof alarmsIn>[number]['metrics'][number]

/** A canary's alarms only roll a deployment back. */
export function tellingAlarms(template: StackTemplate, stage: string) {
  return alarmsIn(template, stage).filter(({ alarmActions }) => alarmActions.length > 0)
}

export function graphsIn(template: StackTemplate) {
  const body = template.only('AWS::CloudWatch::Dashboard').properties['DashboardBody']
  const widgets = JSON.parse(String(body)).widgets as readonly {
    readonly type: string
    readonly properties: {
      readonly title?: string
      readonly metrics?: readonly (readonly unknown[])[]
      readonly annotations?: { readonly horizontal: readonly { readonly value: number }[] }
    }
  }[]
  return widgets
    .filter(({ type }) => type === 'metric')
    .map(({ properties: { title = '', metrics = [], annotations } }) => ({
      title,
      threshold: annotations?.horizontal[0]?.value,
      metrics: metrics.flatMap((row) => {
        const [namespace, name, ...rest] = row.filter((item) => typeof item === 'string')
        if (namespace === undefined || name === undefined) return []
        const pairs = rest.flatMap((key, at) =>
          at % 2 === 0 ? [[key, rest[at + 1] ?? ''] as const] : [],
        )
        return [{ namespace, name, dimensions: Object.fromEntries(pairs) }]
      }),
      expressions: metrics.flatMap((row) => {
        const { expression }: { readonly expression?: unknown } = Object(row.at(-1))
        return typeof expression === 'string' ? [expression] : []
      }),
    }))
}
