import * as v from 'valibot'
import { type FunctionSpec, queuesOf, runsByItself } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { CACHE_MS } from '../../shared/runtime/aws/kept-secrets.ts'
import { markdownTable } from '../support/markdown-table.ts'
import type { StackTemplate } from '../support/stack-template.ts'
import { ASSUMPTIONS } from './assumptions.ts'
import {
  BYTES_PER_GB,
  type CostLine,
  line,
  MILLION,
  sharing,
  sum,
  sumOf,
  total,
  type Usage,
  usageOf,
  usdOf,
} from './cost-lines.ts'
import type { Measured } from './measure-flows.ts'
import { type Flow, specOf } from './metered-world.ts'
import { everyMetric, metricsByChannel } from './own-metrics.ts'
import { PRICED, type Prices } from './prices.ts'

export type Templates = Readonly<Record<'gateway' | 'front', Pick<StackTemplate, 'ofType'>>>

/**
 * Metrics of our own that these runs write. Each metric is counted for the whole month, although
 * AWS bills by the hour.
 */
export function metricsOf(flows: readonly Flow[]): ReadonlySet<string> {
  return new Set(flows.flatMap(({ metrics }) => metrics))
}

export function idleCosts(
  { gateway, front }: Templates,
  { idleRuns }: Pick<Measured, 'idleRuns'>,
): CostLine[] {
  const count = (type: string) => gateway.ofType(type).length
  const queues = gateway
    .ofType('AWS::Lambda::EventSourceMapping')
    .filter((source) => 'ScalingConfig' in source.properties)
  const polls = queues.length * ASSUMPTIONS.pollsPerQueueMinute * 60 * ASSUMPTIONS.hoursPerMonth
  const secrets = gateway.ofType('AWS::SecretsManager::Secret')
  const copies = secrets.filter(({ properties }) => 'ReplicaRegions' in properties).length
  const alarms = gateway.ofType('AWS::CloudWatch::Alarm')
  // An alarm refers to one metric, or to the metrics that its expression names.
  const watched = alarms.flatMap(({ properties }) =>
    [properties['Metrics'] ?? { MetricStat: properties }]
      .flat()
      .flatMap((metric) => Object(metric).MetricStat ?? []),
  ).length
  const acls = front.ofType('AWS::WAFv2::WebACL')
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
    kmsKeyMonth: count('AWS::KMS::Key'),
    kmsRequestMillion: keyRequests().idle,
    wafAclMonth: acls.length,
    wafRuleMonth: rules,
    hostedZoneMonth: 1,
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
      `${secrets.length} secrets and ${copies} copy for the front`,
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
      `${count('AWS::KMS::Key')} key of the stage, at most ${thousand(keyUses)} requests`,
      used,
      'kms',
    ),
    line('WAF', `${acls.length} web ACL with ${rules} rules`, used, 'waf'),
    line('Route 53', 'the hosted zone of the domain', used, 'hostedZone'),
    line('API Gateway, CloudFront, EventBridge, SNS', 'nothing while idle', {}),
  ]
}

/**
 * At most so many requests to the stage's key in a month do not grow with payments. `idle`: only
 * schedules run. `busy`: every role works. A queue takes two requests for each role that sends, and
 * one for each that receives.
 */
function keyRequests(): Readonly<Record<'idle' | 'busy', number>> {
  const own = MANIFEST.filter(runsByItself)
  const table = own.filter((spec) => Object.keys(spec.table).length > 0)
  const idle = table.filter(({ trigger }) => trigger.kind === 'schedule').length
  const queues = sum(own, ({ sends, trigger }) => 2 * sends.length + queuesOf(trigger).length)
  // DynamoDB and SQS ask KMS again after a role has used a key for five minutes (AWS, usage notes
  // of both).
  const times = (ASSUMPTIONS.hoursPerMonth * 60) / 5
  return { idle: times * idle, busy: times * (table.length + queues) }
}

function runsPerMonth({ trigger }: FunctionSpec): number {
  if (trigger.kind !== 'schedule') return 0
  const minutes = 'everyMinutes' in trigger.schedule ? trigger.schedule.everyMinutes : 24 * 60
  return (ASSUMPTIONS.hoursPerMonth * 60) / minutes
}

function thousand(value: number): string {
  return `${Math.round(value / 1_000)} thousand`
}

/**
 * A million payments, each announced to one endpoint; paid payments are also fetched once and
 * settled.
 */
export function paymentCosts({ flows, storedBytes }: Measured['paid']): CostLine[] {
  const storageGbMonth = storedBytes / BYTES_PER_GB
  const stored = { storageGbMonth, storageRecoveryGbMonth: storageGbMonth }
  const each = total([[1, stored], ...flows.map((flow) => [1, usageOf(flow)] as const)])
  const used = total([[MILLION, each]])
  const perPayment = (name: keyof Prices) => oneDecimal(each[name] ?? 0)
  const shared = `one for ${sharing(CACHE_MS)} invocations, assumed`
  const size = `${oneDecimal(storedBytes / 1_000)} KB a payment in table and indexes, and their recovery`
  return [
    line(
      'DynamoDB writes',
      `${perPayment('dynamodbWriteMillion')} units a payment`,
      used,
      'dynamodbWrite',
    ),
    line(
      'DynamoDB reads',
      `${perPayment('dynamodbReadMillion')} units a payment`,
      used,
      'dynamodbRead',
    ),
    line(
      'Lambda',
      `${perPayment('lambdaRequestMillion')} invocations a payment; durations assumed`,
      used,
      'lambda',
    ),
    line(
      'API Gateway',
      `${perPayment('httpApiRequestMillion')} requests a payment, callbacks among them`,
      used,
      'httpApi',
    ),
    line('CloudFront and WAF', 'the same requests', used, 'front'),
    line('SQS', `${perPayment('sqsFairMillion')} messages a payment, in a group`, used, 'sqs'),
    line(
      'Secrets Manager',
      `${perPayment('secretCallMillion')} readings a payment: ${shared}`,
      used,
      'secret',
    ),
    line(
      'KMS',
      `${perPayment('kmsRequestMillion')} requests a payment, for those secrets and the endpoints’`,
      used,
      'kms',
    ),
    line('CloudWatch logs', 'our lines measured, those of AWS by their fields', used, 'log'),
    line('Storage, each month from then on', size, used, 'storage'),
  ]
}

function oneDecimal(value: number): string {
  return value.toFixed(1)
}

export function costReport(templates: Templates, measured: Measured): string {
  const { region, readOn } = PRICED
  return [
    `List prices of ${region}, read ${readOn}, without free tiers: \`test/bench/prices.ts\`. Stage \`prod\` as it is in infra/stages/prod.json.`,
    `Measured for one payment that is paid:\n\n${flowTable(measured.paid)}`,
    `For an unpaid one:\n\n${flowTable(measured.unpaid)}`,
    `Idle, a month:\n\n${costs(idleCosts(templates, measured), 'Idle, a month')}`,
    `Payments in every hour of a month, besides each payment’s own:\n\n${costs(busyCosts(measured), 'In use, a month, on top')}`,
    `A million paid payments:\n\n${costs(paymentCosts(measured.paid), 'A million paid payments')}`,
    `A million unpaid payments:\n\n${costs(paymentCosts(measured.unpaid), 'A million unpaid payments')}`,
    `Besides:\n\n${costs(otherCosts(measured))}`,
  ].join('\n\n')
}

function flowTable({ flows }: Measured['paid']) {
  return markdownTable(
    ['Step of a payment', 'Function', 'Write units', 'Read units', 'Messages'],
    flows.map(({ name, functionName, writes, reads, messages }) => [
      name,
      `\`${functionName}\``,
      ...[writes, reads, messages].map(oneDecimal),
    ]),
  )
}

function costs(lines: readonly CostLine[], title?: string) {
  const rows = lines.map((entry) => [entry.component, entry.basis, dollars(usdOf(entry))])
  const all = title === undefined ? [] : [[`**${title}**`, '', `**${dollars(sumOf(lines))}**`]]
  return markdownTable(['What', 'Of', 'USD'], [...rows, ...all])
}

function dollars(usd: number) {
  return `$${usd.toFixed(2)}`
}

/** What a month with payments in every hour adds, whatever their number. */
function busyCosts({ idleRuns, paid }: Measured): CostLine[] {
  const metricMonth = metricsOf(paid.flows).difference(metricsOf(idleRuns)).size
  const { idle, busy } = keyRequests()
  const metrics = `${metricMonth} more of our own: one channel, and all goes well`
  const uses = `at most ${thousand(busy - idle)} requests more, with every function at work in every five minutes`
  return [
    line('CloudWatch metrics', metrics, { metricMonth }),
    line('KMS', uses, { kmsRequestMillion: busy - idle }),
  ]
}

function otherCosts({ abandoned }: Pick<Measured, 'abandoned'>): CostLine[] {
  const { invocations, messages, writes, reads } = abandoned
  const hops = `${invocations} invocations, ${messages} messages, ${oneDecimal(writes)} writes, ${oneDecimal(reads)} reads each`
  const [byChannel, every] = [metricsByChannel(), everyMetric().size]
  const { hoursPerMonth: natHour, webhookBytes } = ASSUMPTIONS
  const nat = { natHour, natAddressHour: natHour }
  const natGb = (webhookBytes * MILLION) / BYTES_PER_GB
  const everyHour = (count: number, what: string) =>
    [`${count}: ${what}, in every hour`, { metricMonth: count }] as const
  const called = { cloudTrailDataEventMillion: MILLION }
  return [
    line(
      'A million deliveries given up after eight attempts',
      hops,
      total([[MILLION, usageOf(abandoned)]]),
    ),
    line('our own metrics, a month, at most', ...everyHour(every, 'each outcome and each trouble')),
    line('and for each further channel, at most', ...everyHour(byChannel, 'each outcome')),
    line('`webhookEgress: nat`, each gateway, a month', 'NAT gateway and its address', nat),
    line('`webhookEgress: nat`, a million webhooks', `${webhookBytes / 1_000} KB each, assumed`, {
      natGb,
    }),
    line('the stage’s key, a month', 'more after its first and again after its second rotation', {
      kmsKeyMonth: 1,
    }),
    line('a million invocations of operators’ functions, in the trail', 'CloudTrail', called),
    line('a million alert mails', 'SNS', { snsEmailMillion: MILLION }),
  ]
}
