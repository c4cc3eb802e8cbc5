import type { StackTemplate } from './stack-template.ts'

export type TemplateMetric = {
  readonly namespace: string
  readonly name: string
  readonly dimensions: Readonly<Record<string, string>>
  readonly periodSeconds: number
}

type TemplateAlarm = {
  /** The name without its stage. */
  readonly id: string
  readonly description: string
  readonly metrics: readonly TemplateMetric[]
  readonly expression: string | undefined
  readonly threshold: number
  readonly comparison: string
  readonly evaluationPeriods: number
  readonly treatMissingData: string
  readonly alarmActions: readonly unknown[]
  readonly okActions: readonly unknown[]
}

/** As CloudFormation has it: of one metric, or of several and what is calculated of them. */
type RawMetric = {
  readonly Namespace: string
  readonly MetricName: string
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[]
}
type RawAlarm = RawMetric & {
  readonly AlarmName: string
  readonly AlarmDescription: string
  readonly Period: number
  readonly Metrics?: readonly {
    readonly Expression?: string
    readonly MetricStat?: { readonly Metric: RawMetric; readonly Period: number }
  }[]
  readonly Threshold: number
  readonly ComparisonOperator: string
  readonly EvaluationPeriods: number
  readonly TreatMissingData: string
  readonly AlarmActions?: readonly unknown[]
  readonly OKActions?: readonly unknown[]
}

/** The alarms of a stage as its template has them, those of other constructs (a canary's) and all. */
export const alarmsIn = (template: StackTemplate, stage: string): readonly TemplateAlarm[] =>
  template.all('AWS::CloudWatch::Alarm').map((properties) => {
    const alarm = properties as RawAlarm
    const stats = alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []) ?? [{ ...alarm, Metric: alarm }]
    return {
      id: alarm.AlarmName.replace(`gateway-${stage}-`, ''),
      description: alarm.AlarmDescription,
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
      treatMissingData: alarm.TreatMissingData,
      alarmActions: alarm.AlarmActions ?? [],
      okActions: alarm.OKActions ?? [],
    }
  })

/** Those that tell operators: a canary's alarms only take a deployment back. */
export const tellingAlarms = (template: StackTemplate, stage: string): readonly TemplateAlarm[] =>
  alarmsIn(template, stage).filter(({ alarmActions }) => alarmActions.length > 0)

type RawWidget = {
  readonly type: string
  readonly y: number
  readonly properties: {
    readonly title?: string
    readonly metrics?: readonly (readonly unknown[])[]
    readonly annotations?: { readonly horizontal: readonly { readonly value: number }[] }
  }
}

/** A graph of the dashboard: its title, plain metrics, and what is calculated or searched. */
type TemplateGraph = {
  readonly title: string
  readonly y: number
  readonly metrics: readonly Omit<TemplateMetric, 'periodSeconds'>[]
  readonly expressions: readonly string[]
  /** Where an alarm on it goes off. */
  readonly threshold: number | undefined
}

export const graphsIn = (template: StackTemplate): readonly TemplateGraph[] => {
  const body = template.only('AWS::CloudWatch::Dashboard').properties['DashboardBody']
  const { widgets } = JSON.parse(String(body)) as { readonly widgets: readonly RawWidget[] }
  return widgets
    .filter(({ type }) => type === 'metric')
    .map(({ y, properties: { title = '', metrics = [], annotations } }) => ({
      title,
      y,
      threshold: annotations?.horizontal[0]?.value,
      metrics: metrics.flatMap((row) => {
        const [namespace, name, ...rest] = row.filter((item) => typeof item === 'string')
        if (namespace === undefined || name === undefined) return []
        const pairs = rest.flatMap((key, at) => (at % 2 === 0 ? [[key, rest[at + 1] ?? ''] as const] : []))
        return [{ namespace, name, dimensions: Object.fromEntries(pairs) }]
      }),
      expressions: metrics.flatMap((row) => {
        const expression: unknown = Object(row.at(-1))['expression']
        return typeof expression === 'string' ? [expression] : []
      }),
    }))
}
