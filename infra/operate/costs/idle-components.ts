import * as v from 'valibot'
import { nameOfResource, type StageTemplate } from '../../stack/stage-template.ts'
import { ASSUMPTIONS } from './assumptions.ts'
import type { Flow } from './flow.ts'
import type { Measured } from './measure-flows.ts'
import { PRICES } from './prices.ts'

export type CostLine = { readonly component: string; readonly basis: string; readonly usd: number }

const MILLION = 1_000_000
const KB_PER_GB = 1_000_000
const { hoursPerMonth } = ASSUMPTIONS

const RUNS_PER_MONTH: Readonly<Record<string, number>> = {
  'check-due-work': hoursPerMonth * 60,
  'sync-provider-transactions': hoursPerMonth,
  'sweep-settlements': hoursPerMonth / 24,
}

/** An alarm is billed by the metrics it looks at: an expression may take several. */
const alarmMetrics = ({ ofType }: Pick<StageTemplate, 'ofType'>): number => {
  const Expression = v.object({ Metrics: v.array(v.object({ MetricStat: v.optional(v.unknown()) })) })
  return ofType('AWS::CloudWatch::Alarm').reduce((sum, { properties }) => {
    if (!v.is(Expression, properties)) return sum + 1
    return sum + v.parse(Expression, properties).Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length
  }, 0)
}

const memoryGb = (template: Pick<StageTemplate, 'ofType'>, functionName: string): number => {
  const found = template
    .ofType('AWS::Lambda::Function')
    .find((fn) => nameOfResource(fn, 'FunctionName').endsWith(`-${functionName}`))
  return Number(found?.properties['MemorySize'] ?? 0) / 1_024
}

/** Requests and time of so many invocations of the flow's function. */
export const lambdaUsd = (
  template: Pick<StageTemplate, 'ofType'>,
  { functionName }: Flow,
  invocations: number,
): number =>
  (invocations * PRICES.lambdaRequestMillion) / MILLION +
  invocations * (ASSUMPTIONS.billedMs[functionName] / 1_000) * memoryGb(template, functionName) * PRICES.lambdaGbSecond

export const logUsd = ({ logBytes, isHttp }: Flow, invocations: number): number =>
  ((logBytes + (isHttp ? invocations * ASSUMPTIONS.accessLogBytes : 0)) / (1_000 * KB_PER_GB)) * PRICES.logGb

/** What a stage costs in a month in which nobody pays anything. Counted in the synthesised template. */
export const idleCosts = (
  template: StageTemplate,
  { idleRuns, series }: Pick<Measured, 'idleRuns' | 'series'>,
): readonly CostLine[] => {
  const number = (type: string) => template.ofType(type).length
  const runs = (flow: Flow) => RUNS_PER_MONTH[flow.functionName] ?? 0
  const sum = (usdOf: (flow: Flow) => number) => idleRuns.reduce((total, flow) => total + usdOf(flow), 0)
  const sources = template
    .ofType('AWS::Lambda::EventSourceMapping')
    .filter(({ properties }) => 'ScalingConfig' in properties).length
  const polls = sources * ASSUMPTIONS.pollsPerQueueMinute * 60 * hoursPerMonth
  const lines: readonly CostLine[] = [
    {
      component: 'DynamoDB',
      basis: `due work every minute, sync every hour, sweep every day`,
      usd: sum(
        (flow) =>
          (runs(flow) * (flow.reads * PRICES.dynamodbReadMillion + flow.writes * PRICES.dynamodbWriteMillion)) /
          MILLION,
      ),
    },
    { component: 'Lambda', basis: 'the same runs', usd: sum((flow) => lambdaUsd(template, flow, runs(flow))) },
    {
      component: 'SQS',
      basis: `Lambda asks ${sources} idle queues ${Math.round(polls / 1_000)} thousand times`,
      usd: (polls * PRICES.sqsRequestMillion) / MILLION,
    },
    priced('Secrets Manager', number('AWS::SecretsManager::Secret'), 'secrets, without endpoints', PRICES.secretMonth),
    {
      component: 'CloudWatch logs',
      basis: 'lines of the same runs',
      usd: sum((flow) => logUsd({ ...flow, logBytes: flow.logBytes * runs(flow) }, runs(flow))),
    },
    priced('CloudWatch metrics', series.idle, 'of our own that the same runs write to', PRICES.metricMonth),
    priced('CloudWatch alarms', alarmMetrics(template), 'metrics that alarms look at', PRICES.alarmMonth),
    priced(
      'CloudWatch composite alarms',
      number('AWS::CloudWatch::CompositeAlarm'),
      'composite alarms',
      PRICES.compositeAlarmMonth,
    ),
    priced('CloudWatch dashboards', number('AWS::CloudWatch::Dashboard'), 'dashboards', PRICES.dashboardMonth),
    priced('KMS', number('AWS::KMS::Key'), 'customer keys', PRICES.kmsKeyMonth),
    { component: 'API Gateway, EventBridge, SNS', basis: 'nothing while idle', usd: 0 },
  ]
  return lines
}

const priced = (component: string, count: number, what: string, each: number): CostLine => ({
  component,
  basis: `${count} ${what}`,
  usd: count * each,
})
