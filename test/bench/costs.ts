import { CACHE_MS } from '../../shared/runtime/aws/kept-secrets.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { ASSUMPTIONS } from './assumptions.ts'
import type { billedStages } from './billed-stages.ts'
import {
  BYTES_PER_GB,
  type CostLine,
  line,
  MILLION,
  sharing,
  sumOf,
  total,
  usageOf,
} from './cost-lines.ts'
import { idleCosts, keyRequests, metricsOf, thousand } from './idle-costs.ts'
import type { Measured } from './measure-flows.ts'
import { everyMetric, metricsByChannel } from './own-metrics.ts'
import { PRICED, type Prices } from './prices.ts'
import { AUDIT_READS_A_MONTH, PAYOUT_READS } from './walls/payment-use.ts'

/**
 * A million payments, each announced to one endpoint; paid payments are also fetched once and
 * settled.
 */
export function paymentCosts({ flows, storedBytes }: Measured['paid']) {
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

/** A million paid payments with the audits of their first month, and of their payout. */
export function paidCosts(paid: Measured['paid']) {
  const reads = AUDIT_READS_A_MONTH + PAYOUT_READS
  return [
    ...paymentCosts(paid),
    line('Audits of the first month, and the payout', `${oneDecimal(reads)} read units a payment`, {
      dynamodbReadMillion: reads * MILLION,
      lambdaGbSecond: (MILLION * ASSUMPTIONS.auditedMs * 1_769) / 1_024 / 1_000,
    }),
  ]
}

function oneDecimal(value: number) {
  return value.toFixed(1)
}

export function costReport({ prod, dev }: ReturnType<typeof billedStages>, measured: Measured) {
  const { region, readOn } = PRICED
  return [
    `List prices of ${region}, read ${readOn}, without free tiers: \`test/bench/prices.ts\`. Jakarta is dearer for most services, and was not read; WAF, Route 53 and CloudFront’s requests cost the same. Stages as their files in infra/stages are.`,
    `Idle, a month. The counts are those of \`prod\`:\n\n${costs(['`prod`', '`dev`'], [idleCosts(prod, measured), idleCosts(dev, measured)], 'All')}`,
    `Payments in every hour of a month, besides each payment’s own:\n\n${costs(['USD'], [busyCosts(measured)], 'All')}`,
    `A million payments, all paid or all unpaid. The units and counts are those of a paid one:\n\n${costs(['Paid', 'Unpaid'], [paidCosts(measured.paid), paymentCosts(measured.unpaid)], 'All')}`,
    `Besides:\n\n${costs(['USD'], [otherCosts(measured)])}`,
  ].join('\n\n')
}

/** Each case has a column. The counts are those of the first one, which has every component. */
function costs(names: readonly string[], cases: readonly (readonly CostLine[])[], title?: string) {
  const rows = cases[0]?.map(({ component, basis }) => [
    component,
    basis,
    ...cases.map((lines) => dollars(sumOf(lines.filter((one) => one.component === component)))),
  ])
  const sums = cases.map((lines) => `**${dollars(sumOf(lines))}**`)
  const all = title === undefined ? [] : [[`**${title}**`, '', ...sums]]
  return markdownTable(['What', 'Of', ...names], [...(rows ?? []), ...all])
}

function dollars(usd: number) {
  return `$${usd.toFixed(2)}`
}

/** What a month with payments in every hour adds, whatever their number. */
function busyCosts({ idleRuns, paid }: Measured) {
  const metricMonth = metricsOf(paid.flows).difference(metricsOf(idleRuns)).size
  const { idle, busy } = keyRequests()
  const metrics = `${metricMonth} more of our own: one channel, and all goes well`
  const uses = `at most ${thousand(busy - idle)} requests more, with every function at work in every five minutes`
  return [
    line('CloudWatch metrics', metrics, { metricMonth }),
    line('KMS', uses, { kmsRequestMillion: busy - idle }),
  ]
}

function otherCosts({ abandoned, paid }: Pick<Measured, 'abandoned' | 'paid'>) {
  const { invocations, messages, writes, reads } = abandoned
  const hops = `${invocations} invocations, ${messages} messages, ${oneDecimal(writes)} writes, ${oneDecimal(reads)} reads each`
  const [byChannel, every] = [metricsByChannel(), everyMetric().size]
  const { hoursPerMonth: natHour, webhookBytes } = ASSUMPTIONS
  const nat = { natHour, natAddressHour: natHour }
  const natGb = (webhookBytes * MILLION) / BYTES_PER_GB
  const everyHour = (count: number, what: string) =>
    [`${count}: ${what}, in every hour`, { metricMonth: count }] as const
  const called = { cloudTrailDataEventMillion: MILLION }
  const storedGb = (MILLION * paid.storedBytes) / BYTES_PER_GB
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
    line('the stage’s key, a month', 'more after its first two rotations', { kmsKeyMonth: 1 }),
    line('a million invocations of operators’ functions, in the trail', 'CloudTrail', called),
    line(
      'daily copies of what a million paid payments store, a month',
      'whole backups of 35 days in the other region',
      { backupGbMonth: 35 * storedGb, backupCopyGb: 30 * storedGb },
    ),
    line('a gigabyte of answers to callers in Indonesia', 'CloudFront', { frontGb: 1 }),
    line('a million alert mails', 'SNS', { snsEmailMillion: MILLION }),
  ]
}
