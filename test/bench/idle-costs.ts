import * as v from 'valibot'
import { type FunctionSpec, queuesOf, runsByItself } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { ACCESS_LINE_BYTES, ASSUMPTIONS } from './assumptions.ts'
import type { BilledStage } from './billed-stages.ts'
import { BYTES_PER_GB, type CostLine, line, sum, total, type Usage, usageOf } from './cost-lines.ts'
import type { Measured } from './measure-flows.ts'
import { type Flow, specOf } from './metered-world.ts'

export function idleCosts(
  { gateway, front, copies: hasCopies }: BilledStage,
  { idleRuns }: Pick<Measured, 'idleRuns'>,
): CostLine[] {
  const inAll = (type: string) => [...gateway.ofType(type), ...(front?.ofType(type) ?? [])]
  const count = (type: string) => inAll(type).length
  const keys = count('AWS::KMS::Key') + (hasCopies ? 1 : 0)
  const queues = gateway
    .ofType('AWS::Lambda::EventSourceMapping')
    .filter((source) => 'ScalingConfig' in source.properties)
  const polls = queues.length * ASSUMPTIONS.pollsPerQueueMinute * 60 * ASSUMPTIONS.hoursPerMonth
  const secrets = inAll('AWS::SecretsManager::Secret')
  const copies = secrets.filter(({ properties }) => 'ReplicaRegions' in properties).length
  const alarms = inAll('AWS::CloudWatch::Alarm')
  // An alarm refers to one metric, or to the metrics that its expression names.
  const watched = alarms.flatMap(({ properties }) =>
    [properties['Metrics'] ?? { MetricStat: properties }]
      .flat()
      .flatMap((metric) => Object(metric).MetricStat ?? []),
  ).length
  const acls = inAll('AWS::WAFv2::WebACL')
  const rules = acls.flatMap(({ properties }) =>
    v.parse(v.array(v.unknown()), properties['Rules']),
  ).length
  const fixedUsage = {
    sqsRequestMillion: polls,
    secretMonth: secrets.length + copies,
    metricMonth: metricsOf(idleRuns).size,
    alarmMetricMonth: watched,
    compositeMonth: count('AWS::CloudWatch::CompositeAlarm'),
    dashboardMonth: count('AWS::CloudWatch::Dashboard'),
    kmsKeyMonth: keys,
    kmsRequestMillion: keyRequests().idle,
    wafAclMonth: acls.length,
    wafRuleMonth: rules,
    hostedZoneMonth: count('AWS::ApiGatewayV2::DomainName'),
  } satisfies Usage
  const runs = idleRuns.map(
    (flow) => [runsPerMonth(specOf(flow.functionName)), usageOf(flow)] as const,
  )
  const used = total([[1, fixedUsage], ...runs])
  const { kmsRequestMillion: keyUses = 0 } = used
  return [
    line(
      'DynamoDB',
      'due work every minute, sync every five minutes, sweep every day',
      used,
      'dynamodb',
    ),
    line('Lambda', 'the same runs', used, 'lambda'),
    line('SQS', `Lambda asks ${queues.length} idle queues ${thousand(polls)} times`, used, 'sqs'),
    line(
      'Secrets Manager',
      `secrets: ${secrets.length}; copies for the front’s region: ${copies}`,
      used,
      'secret',
    ),
    line('CloudWatch logs', 'lines of the same runs', used, 'log'),
    line(
      'CloudWatch metrics',
      `${fixedUsage.metricMonth} of our own in the same runs`,
      used,
      'metric',
    ),
    line(
      'CloudWatch alarms',
      `${alarms.length} alarms, which refer to ${watched} metrics`,
      used,
      'alarm',
    ),
    line('CloudWatch composite alarms', `${fixedUsage.compositeMonth} of them`, used, 'composite'),
    line('CloudWatch dashboards', `${fixedUsage.dashboardMonth} of them`, used, 'dashboard'),
    line(
      'KMS',
      `keys of the stage and of its backups: ${keys}; at most ${thousand(keyUses)} requests`,
      used,
      'kms',
    ),
    line('WAF', `${acls.length} web ACL with ${rules} rules`, used, 'waf'),
    line('Route 53', 'the hosted zone of the domain', used, 'hostedZone'),
    line(
      'Probe from the front’s region',
      front ? 'a run and two requests each minute' : 'none without a front',
      front ? probeUsage() : {},
    ),
    line('API Gateway, CloudFront, EventBridge, SNS', 'nothing while idle', {}),
  ]
}

/** Each minute an unknown key, and a read of the canary merchant's balance. */
function probeUsage() {
  const minutes = ASSUMPTIONS.hoursPerMonth * 60
  const requests = 2 * minutes
  const { probe, balance } = ASSUMPTIONS.probedMs
  return {
    lambdaRequestMillion: minutes + requests,
    lambdaGbSecond: ((minutes * probe + requests * balance) / 1_000) * 0.25,
    dynamodbReadMillion: 5 * minutes,
    httpApiRequestMillion: requests,
    frontRequestMillion: requests,
    frontWafRequestMillion: requests,
    logGb: (requests * 2 * ACCESS_LINE_BYTES) / BYTES_PER_GB,
  }
}

/**
 * At most so many requests to the stage's key in a month do not grow with payments. `idle`: only
 * schedules run. `busy`: every role works. A queue takes two requests for each role that sends, and
 * one for each that receives.
 */
export function keyRequests(): Readonly<Record<'idle' | 'busy', number>> {
  const own = MANIFEST.filter(runsByItself)
  const table = own.filter((spec) => Object.keys(spec.table).length > 0)
  const idle = table.filter(({ trigger }) => trigger.kind === 'schedule').length
  const queues = sum(own, ({ sends, trigger }) => 2 * sends.length + queuesOf(trigger).length)
  // DynamoDB and SQS ask KMS again after a role has used a key for five minutes (AWS, usage notes
  // of both).
  const times = (ASSUMPTIONS.hoursPerMonth * 60) / 5
  return { idle: times * idle, busy: times * (table.length + queues) }
}

function runsPerMonth({ trigger }: FunctionSpec) {
  if (trigger.kind !== 'schedule') return 0
  const minutes = 'everyMinutes' in trigger.schedule ? trigger.schedule.everyMinutes : 24 * 60
  return (ASSUMPTIONS.hoursPerMonth * 60) / minutes
}

export function thousand(value: number) {
  return `${Math.round(value / 1_000)} thousand`
}

/**
 * Metrics of our own that these runs write. Each metric is counted for the whole month, although
 * AWS bills by the hour.
 */
export function metricsOf(flows: readonly Flow[]) {
  return new Set(flows.flatMap(({ metrics }) => metrics))
}
