import * as v from 'valibot'
import type { Resource, StackTemplate } from './stack-template.ts'

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

const MetricSchema = v.object({
  Namespace: v.string(),
  MetricName: v.string(),
  Dimensions: v.optional(v.array(v.object({ Name: v.string(), Value: v.string() })), []),
})

const AlarmSchema = v.object({
  AlarmName: v.string(),
  AlarmDescription: v.string(),
  Threshold: v.number(),
  ComparisonOperator: v.string(),
  EvaluationPeriods: v.number(),
  TreatMissingData: v.string(),
  AlarmActions: v.optional(v.array(v.unknown()), []),
  OKActions: v.optional(v.array(v.unknown()), []),
})

const PlainSchema = v.object({ ...MetricSchema.entries, Period: v.number() })
const MathSchema = v.object({
  Metrics: v.array(
    v.object({
      Expression: v.optional(v.string()),
      MetricStat: v.optional(v.object({ Metric: MetricSchema, Period: v.number() })),
    }),
  ),
})

const metricOf = (
  { Namespace, MetricName, Dimensions }: v.InferOutput<typeof MetricSchema>,
  periodSeconds: number,
): TemplateMetric => ({
  namespace: Namespace,
  name: MetricName,
  dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
  periodSeconds,
})

const measured = ({ properties }: Resource): Pick<TemplateAlarm, 'metrics' | 'expression'> => {
  if (!('Metrics' in properties)) {
    const plain = v.parse(PlainSchema, properties)
    return { metrics: [metricOf(plain, plain.Period)], expression: undefined }
  }
  const { Metrics } = v.parse(MathSchema, properties)
  return {
    metrics: Metrics.flatMap(({ MetricStat }) => (MetricStat ? [metricOf(MetricStat.Metric, MetricStat.Period)] : [])),
    expression: Metrics.find(({ Expression }) => Expression !== undefined)?.Expression,
  }
}

/** The alarms of a stage as its template has them, those of other constructs (a canary's) and all. */
export const alarmsIn = (template: StackTemplate, stage: string): readonly TemplateAlarm[] =>
  template.ofType('AWS::CloudWatch::Alarm').map((resource) => {
    const alarm = v.parse(AlarmSchema, resource.properties)
    return {
      id: alarm.AlarmName.replace(`gateway-${stage}-`, ''),
      description: alarm.AlarmDescription,
      ...measured(resource),
      threshold: alarm.Threshold,
      comparison: alarm.ComparisonOperator,
      evaluationPeriods: alarm.EvaluationPeriods,
      treatMissingData: alarm.TreatMissingData,
      alarmActions: alarm.AlarmActions,
      okActions: alarm.OKActions,
    }
  })

/** Those that tell somebody: a canary's alarms only take a deployment back. */
export const tellingAlarms = (template: StackTemplate, stage: string): readonly TemplateAlarm[] =>
  alarmsIn(template, stage).filter(({ alarmActions }) => alarmActions.length > 0)

const Body = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    widgets: v.array(
      v.looseObject({
        type: v.string(),
        y: v.number(),
        properties: v.looseObject({
          title: v.optional(v.string(), ''),
          metrics: v.optional(v.array(v.array(v.unknown())), []),
        }),
      }),
    ),
  }),
)

const ExpressionSchema = v.looseObject({ expression: v.string() })

/** A graph of the dashboard: its title, plain metrics, and what is calculated or searched. */
type TemplateGraph = {
  readonly title: string
  readonly y: number
  readonly metrics: readonly Omit<TemplateMetric, 'periodSeconds'>[]
  readonly expressions: readonly string[]
}

export const graphsIn = (template: StackTemplate): readonly TemplateGraph[] => {
  const [dashboard] = template.ofType('AWS::CloudWatch::Dashboard')
  const { widgets } = v.parse(Body, dashboard?.properties['DashboardBody'])
  return widgets
    .filter(({ type }) => type === 'metric')
    .map(({ y, properties: { title, metrics } }) => ({
      title,
      y,
      metrics: metrics.flatMap((row) => {
        const [namespace, name, ...rest] = row.filter((item) => typeof item === 'string')
        if (namespace === undefined || name === undefined) return []
        const pairs = rest.flatMap((key, at) => (at % 2 === 0 ? [[key, rest[at + 1] ?? ''] as const] : []))
        return [{ namespace, name, dimensions: Object.fromEntries(pairs) }]
      }),
      expressions: metrics.flatMap((row) => {
        const [last] = row.slice(-1)
        return v.is(ExpressionSchema, last) ? [last.expression] : []
      }),
    }))
}
